/**
 * Reads right after opening a store that is larger than any cache: the page's memory has no part of it. Run it with
 * `--rows 1000000`.
 */
import type { Samples, Setting, Suite } from '../bench-case.js';
import { timed } from '../measure.js';
import { type Peer, RELAXED, within } from '../peers/database.js';
import { idOf, randomIds } from '../rows.js';
import { withManyRows } from './contestants.js';
import { perSecond } from './samples.js';

const GETS = 1000;
const GETS_MS = 2000;
/** In a store of a million rows they meet each segment dozens of times. */
const MORE_GETS = 8000;
const SCANNED_ROWS = 100_000;

/** Gets random keys, each awaited before the next. */
async function coldGets(peer: Peer, { rows, quick }: Setting): Promise<Samples> {
  return within(peer, RELAXED, async (db) => {
    const ids = randomIds(GETS, rows, 51);
    const value = await perSecond(ids, quick ? 500 : GETS_MS, (id) => db.get(id));
    return { 'cold-get': { value } };
  });
}

async function moreColdGets(peer: Peer, { rows, quick }: Setting): Promise<Samples> {
  return within(peer, RELAXED, async (db) => {
    const ids = randomIds(quick ? GETS : MORE_GETS, rows, 53);
    const { ms } = await timed(async () => {
      for (const id of ids) await db.get(id);
    });
    return { 'cold-gets-8000': { value: ms } };
  });
}

async function coldGetMany(peer: Peer, { rows }: Setting): Promise<Samples> {
  return within(peer, RELAXED, async (db) => {
    const ids = randomIds(GETS, rows, 52);
    const { ms, result } = await timed(async () => db.getMany(ids));
    if (result.some((row) => row == null)) throw new Error('a row is not there');
    return { 'cold-get-many': { value: ms } };
  });
}

async function coldScan(peer: Peer, { rows }: Setting): Promise<Samples> {
  return within(peer, RELAXED, async (db) => {
    const limit = Math.min(SCANNED_ROWS, rows);
    // In the middle, which is not the last part of a load.
    const from = idOf(Math.floor((rows - limit) / 2));
    const { ms, result } = await timed(async () => db.scan({ from, limit }));
    if (result.length !== limit) throw new Error(`${result.length} rows`);
    return { 'cold-scan': { value: ms } };
  });
}

export const COLD: Suite = {
  name: 'cold',
  cases: [
    {
      name: 'cold-get',
      title: 'random gets, each awaited, after opening',
      unit: 'per second',
    },
    {
      name: 'cold-gets-8000',
      title: `${MORE_GETS.toLocaleString('en')} random gets, each awaited, after opening`,
      unit: 'ms',
    },
    { name: 'cold-get-many', title: `getMany of ${GETS} random keys after opening`, unit: 'ms' },
    {
      name: 'cold-scan',
      title: `scan of ${SCANNED_ROWS.toLocaleString('en')} rows (or all) to objects after opening`,
      unit: 'ms',
    },
  ],
  contestants: withManyRows([coldGets, moreColdGets, coldGetMany, coldScan]),
};
