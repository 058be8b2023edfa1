/** Measures the least cost of a job: only the browser's own part of it. */
import { type Contestant, type Samples, type Setting, wants } from '../bench-case.js';
import { timed } from '../measure.js';
import { RELAXED, STRICT } from '../peers/database.js';
import { inTransaction, openIndexedDb, settled, storedRows } from '../peers/raw.js';
import { makeRows, type Row } from '../rows.js';
import { bytesOnDisk } from './disk.js';
import { putLatency, scanPasses } from './samples.js';

const BLOCK_BYTES = 1 << 20;

async function withIndexedDb<T>(use: (db: IDBDatabase) => Promise<T>): Promise<T> {
  const db = await openIndexedDb();
  try {
    return await use(db);
  } finally {
    db.close();
  }
}

/** Loads with one `JSON.stringify`, one encoding, and values of 1 MiB in one relaxed transaction. */
export async function loadFloor(rows: readonly Row[]): Promise<Samples[string]> {
  return withIndexedDb(async (db) => {
    const { ms, result } = await timed(async () => {
      const startMs = performance.now();
      const text = JSON.stringify(rows);
      const stringifiedMs = performance.now();
      const bytes = new TextEncoder().encode(text);
      const encodedMs = performance.now();
      await inTransaction(db, 'blocks', 'relaxed', (store) => {
        for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
          store.put(bytes.slice(at, at + BLOCK_BYTES), at / BLOCK_BYTES);
        }
      });
      return {
        'stringify, ms': stringifiedMs - startMs,
        'encode, ms': encodedMs - stringifiedMs,
        'puts, ms': performance.now() - encodedMs,
      };
    });
    return { value: ms, details: result };
  });
}

export function loadFloorOf(name: string, makeAll: (setting: Setting) => Row[]): Contestant {
  return {
    name: 'floor',
    kind: 'floor',
    acts: [async (setting) => ({ [name]: await loadFloor(makeAll(setting)) })],
  };
}

async function load(setting: Setting): Promise<Samples> {
  const rows = makeRows(setting.rows);
  const sample = await loadFloor(rows);
  await withIndexedDb((db) =>
    inTransaction(db, 'rows', 'relaxed', (store) => store.put(rows[0] as Row)),
  );
  return { load: sample, disk: { value: await bytesOnDisk() } };
}

async function read(setting: Setting): Promise<Samples> {
  const samples: Samples = {};
  if (wants(setting, 'open')) {
    const { ms } = await timed(async () => {
      const db = await openIndexedDb();
      const found = await settled(storedRows(db).getAll(null, 1));
      if (found.length !== 1) throw new Error('the row is not there');
      db.close();
    });
    samples.open = { value: ms };
  }
  if (wants(setting, 'scan')) {
    const text = JSON.stringify(makeRows(setting.rows));
    samples.scan = await scanPasses(setting.rows, async () => JSON.parse(text) as unknown[]);
  }
  return samples;
}

/** Writes with one `put` in one transaction, into an almost empty database. */
async function write(setting: Setting): Promise<Samples> {
  const samples: Samples = {};
  const rows = makeRows(setting.rows);
  await withIndexedDb(async (db) => {
    for (const [name, { durability }, seed] of [
      ['put', RELAXED, 5],
      ['put-strict', STRICT, 10],
    ] as const) {
      if (!wants(setting, name)) continue;
      samples[name] = await putLatency(setting, rows, seed, (row) =>
        inTransaction(db, 'rows', durability, (store) => store.put(row)),
      );
    }
  });
  return samples;
}

export const LIFE_FLOOR: Contestant = {
  name: 'floor',
  kind: 'floor',
  note: 'JSON.stringify + encoding + 1 MiB values; JSON.parse; one raw put; opening one small database',
  acts: [load, read, write],
};
