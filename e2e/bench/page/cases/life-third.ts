/** The third visit: changes everything. */
import { type Sample, type Samples, type Setting, wants } from '../bench-case.js';
import { pause, percentile, timed } from '../measure.js';
import { type Database, type Peer, RELAXED, STRICT, within } from '../peers/database.js';
import { changedRows, makeRows, type Row, randomlyChanged } from '../rows.js';
import { bytesOnDisk } from './disk.js';
import { refilled } from './life-second.js';
import { putLatency } from './samples.js';

const UPDATES = [
  ['update-1', 100],
  ['update-10', 10],
  ['update-100', 1],
] as const;
const DELETED = 1000;
const IN_A_ROW = 100;
const IN_A_TURN = 1000;
const WATCHED = 30;
const WRITES = [
  ...UPDATES.map(([name]) => name),
  'put',
  'puts-100',
  'puts-turn',
  'delete',
  'watch',
  'disk-after',
];

export async function thirdVisit(peer: Peer, setting: Setting): Promise<Samples> {
  const rows = makeRows(setting.rows);
  const samples: Samples = {};
  if (wants(setting, ...WRITES)) {
    const db = peer.inMemory ? await refilled(peer, setting) : await peer.open(RELAXED);
    await changes(peer, db, rows, setting, samples);
    await db.persisted?.();
    await db.close();
    if (wants(setting, 'disk-after') && !peer.inMemory) {
      samples['disk-after'] = { value: await bytesOnDisk() };
    }
  }
  if (wants(setting, 'put-strict') && peer.cannot?.['put-strict'] === undefined) {
    await pause(200);
    samples['put-strict'] = await within(peer, STRICT, (db) =>
      putLatency(setting, rows, 10, (row) => db.put(row)),
    );
  }
  return samples;
}

async function changes(
  peer: Peer,
  db: Database,
  rows: readonly Row[],
  setting: Setting,
  samples: Samples,
): Promise<void> {
  for (const [name, step] of UPDATES) {
    if (!wants(setting, name)) continue;
    const changed = changedRows(rows, step);
    const { ms, result } = await timed(() => db.load(changed));
    samples[name] = { value: ms, ...(result === undefined ? {} : { details: result }) };
  }
  if (wants(setting, 'delete')) samples.delete = await deletes(db, rows);
  if (wants(setting, 'put')) samples.put = await putLatency(setting, rows, 5, (row) => db.put(row));
  if (wants(setting, 'puts-100')) {
    const changed = randomlyChanged(rows, IN_A_ROW, 8);
    const { ms } = await timed(async () => {
      for (const row of changed) await db.put(row);
    });
    samples['puts-100'] = { value: ms };
  }
  if (wants(setting, 'puts-turn')) {
    const changed = distinct(randomlyChanged(rows, 2 * IN_A_TURN, 9)).slice(0, IN_A_TURN);
    const { ms } = await timed(() => Promise.all(changed.map((row) => db.put(row))));
    samples['puts-turn'] = { value: ms };
  }
  if (wants(setting, 'watch') && peer.cannot?.watch === undefined) {
    samples.watch = await watchLatency(db, rows);
  }
}

/** PouchDB refuses two concurrent puts of one document. */
function distinct(rows: readonly Row[]): Row[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

/** Deletes a thousand rows that are far apart, and puts them back. */
async function deletes(db: Database, rows: readonly Row[]): Promise<Sample> {
  const step = Math.max(1, Math.floor(rows.length / DELETED));
  const chosen = rows.filter((_, at) => at % step === 0).slice(0, DELETED);
  const { ms } = await timed(() => db.remove(chosen.map(({ id }) => id)));
  const left = await db.getMany(chosen.slice(0, 10).map(({ id }) => id));
  if (left.some((row) => row != null)) throw new Error('a deleted row is still there');
  await db.load(chosen);
  return { value: ms };
}

/** Measures the time from a put to the page's watcher. */
async function watchLatency(db: Database, rows: readonly Row[]): Promise<Sample> {
  const row = rows[Math.floor(rows.length / 2)] as Row;
  let told: ((modified: number) => void) | undefined;
  const stop = await db.watch?.(row.id, (seen) => told?.((seen as Row | undefined)?.modified ?? 0));
  await pause(100);
  const times: number[] = [];
  for (let at = 1; at <= WATCHED; at++) {
    const modified = 1_000_000 + at;
    const startMs = performance.now();
    const heard = new Promise<void>((resolve) => {
      told = (seen) => {
        if (seen === modified) resolve();
      };
    });
    await db.put({ ...row, modified });
    await heard;
    times.push(performance.now() - startMs);
  }
  stop?.();
  return { value: percentile(times, 0.5), details: { 'p95, ms': percentile(times, 0.95) } };
}
