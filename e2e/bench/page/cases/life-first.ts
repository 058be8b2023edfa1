/** The first visit: loads everything into an empty database. */
import { type Sample, type Samples, type Setting, wants } from '../bench-case.js';
import { timed } from '../measure.js';
import { type Peer, RELAXED, within } from '../peers/database.js';
import { makeRows, type Row } from '../rows.js';
import { bytesOnDisk } from './disk.js';

/** Times a load: until rows are visible and, where that differs, until they are stored. */
export async function loadSample(peer: Peer, rows: readonly Row[]): Promise<Sample> {
  return within(peer, RELAXED, async (db) => {
    let startMs = 0;
    const { ms, result } = await timed(() => {
      startMs = performance.now();
      return db.load(rows);
    });
    const sample = { value: ms, ...(result === undefined ? {} : { details: result }) };
    if (db.persisted === undefined) return sample;
    await db.persisted();
    const storedMs = performance.now() - startMs;
    return { ...sample, also: { [`${peer.name}, until stored`]: storedMs } };
  });
}

export async function firstVisit(peer: Peer, setting: Setting): Promise<Samples> {
  const load = await loadSample(peer, makeRows(setting.rows));
  if (!wants(setting, 'disk') || peer.inMemory) return { load };
  return { load, disk: { value: await bytesOnDisk() } };
}
