/** The second visit: reads everything. */
import { type Samples, type Setting, wants } from '../bench-case.js';
import { pause, percentile, timed } from '../measure.js';
import { type Database, type Peer, RELAXED } from '../peers/database.js';
import { idOf, makeRows, randomIds } from '../rows.js';
import { perSecond, scanPasses } from './samples.js';

const MANY = 1000;
const PAGE_ROWS = 100;
const COLD_GETS = 200;
const READS = ['open', 'get-cold', 'scan', 'scan-100', 'scan-prefix', 'get', 'get-many'];

export async function secondVisit(peer: Peer, setting: Setting): Promise<Samples> {
  if (!wants(setting, ...READS)) return {};
  const samples: Samples = {};
  const db = peer.inMemory ? await refilled(peer, setting) : await reopened(peer, setting, samples);
  if (wants(setting, 'scan')) {
    samples.scan = await scanPasses(setting.rows, () => db.scan({}));
  }
  if (wants(setting, 'scan-100')) samples['scan-100'] = await pages(db, setting);
  if (wants(setting, 'scan-prefix')) samples['scan-prefix'] = await prefixes(db, setting);
  if (wants(setting, 'get')) samples.get = await gets(db, setting);
  if (wants(setting, 'get-many')) samples['get-many'] = await manyGets(db, setting);
  await db.close();
  return samples;
}

/** Opens a database; peers without storage start every visit with a load. */
export async function refilled(peer: Peer, { rows }: Setting): Promise<Database> {
  const db = await peer.open(RELAXED);
  await db.load(makeRows(rows));
  return db;
}

/** Opens the database, and gets a row: times both, and the opening. */
export async function opened(peer: Peer, id: string) {
  const { ms, result } = await timed(async () => {
    const startMs = performance.now();
    const db = await peer.open(RELAXED);
    const openMs = performance.now() - startMs;
    if ((await db.get(id)) === undefined) throw new Error(`${id} is not there`);
    return { db, openMs };
  });
  return { ms, ...result };
}

async function reopened(peer: Peer, setting: Setting, samples: Samples): Promise<Database> {
  const [firstId = '', secondId = '', ...ids] = randomIds(2 + COLD_GETS, setting.rows, 6);
  const first = await opened(peer, firstId);
  await first.db.close();
  // An ended worker releases its files a moment later.
  await pause(200);
  const second = await opened(peer, secondId);
  samples.open = {
    value: first.ms,
    details: {
      'of that open, ms': first.openMs,
      'second time in the page, ms': second.ms,
    },
  };
  if (wants(setting, 'get-cold')) {
    const times: number[] = [];
    for (const id of ids) {
      const startMs = performance.now();
      if ((await second.db.get(id)) === undefined) throw new Error(`${id} is not there`);
      times.push(performance.now() - startMs);
    }
    samples['get-cold'] = {
      value: times.reduce((sum, ms) => sum + ms, 0) / times.length,
      details: { 'p50, ms': percentile(times, 0.5), 'p95, ms': percentile(times, 0.95) },
    };
  }
  return second.db;
}

/** Reads a hundred rows from a random key on: the mean of many. */
async function pages(db: Database, { rows, quick }: Setting) {
  const starts = randomIds(quick ? 20 : 100, rows - PAGE_ROWS + 1, 7);
  for (const from of starts.slice(0, 10)) await db.scan({ from, limit: PAGE_ROWS });
  const { ms, result } = await timed(async () => {
    let found = 0;
    for (const from of starts) found += (await db.scan({ from, limit: PAGE_ROWS })).length;
    return found;
  });
  if (result !== starts.length * PAGE_ROWS) throw new Error(`${result} rows of pages`);
  return { value: ms / starts.length };
}

/** Reads all keys with one prefix, a thousand of them or all there are: the mean of ten. */
async function prefixes(db: Database, { rows }: Setting) {
  const size = Math.min(1000, rows);
  const count = Math.max(1, Math.floor(rows / size));
  const chosen = Array.from({ length: 10 }, (_, at) => idOf((at % count) * size).slice(0, -3));
  for (const prefix of chosen.slice(0, 2)) await db.scan({ prefix });
  const { ms, result } = await timed(async () => {
    let found = 0;
    for (const prefix of chosen) found += (await db.scan({ prefix })).length;
    return found;
  });
  if (result !== chosen.length * size) throw new Error(`${result} rows of prefixes`);
  return { value: ms / chosen.length };
}

/** Gets random keys, each awaited, after some that do not count. */
async function gets(db: Database, { rows, quick }: Setting) {
  const get = (id: string) => db.get(id);
  await perSecond(randomIds(10_000, rows, 3), 300, get);
  return { value: await perSecond(randomIds(10_000, rows, 4), quick ? 500 : 1500, get) };
}

/** Gets a thousand random keys at once: the mean of ten, after some that do not count. */
async function manyGets(db: Database, { rows }: Setting) {
  for (let seed = 10; seed < 13; seed++) await db.getMany(randomIds(MANY, rows, seed));
  const batches = Array.from({ length: 10 }, (_, at) => randomIds(MANY, rows, 20 + at));
  const { ms, result } = await timed(async () => {
    let found = 0;
    for (const ids of batches) {
      for (const row of await db.getMany(ids)) if (row != null) found += 1;
    }
    return found;
  });
  if (result !== MANY * batches.length) throw new Error(`found ${result}`);
  return { value: ms / batches.length };
}
