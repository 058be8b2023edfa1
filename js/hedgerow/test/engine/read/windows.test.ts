/**
 * Windows of scans (a range, a direction, a limit) against a model: over rows and over indexes, of a store, a snapshot
 * and a branch, and of a transaction with any edits of its own.
 */
import { it } from 'vitest';
import type { Rows } from '../../../src/engine/read/scan.js';
import type { IndexScanOptions, ScanOptions } from '../../../src/engine/read/scan-options.js';
import {
  type IndexDefinitions,
  memory,
  open,
  type Store,
  type Transaction,
} from '../../../src/index.js';
import { entriesOfRows, selectEntries } from '../../support/models/index-model.js';
import { type Entry, select, sorted } from '../../support/models/store-model.js';
import { expectNoFault, forSeeds, stepFault } from '../../support/property.js';
import type { Random } from '../../support/random.js';

const INDEXES: IndexDefinitions = {
  n: { path: '/n' },
  tag: { path: '/tags' },
  both: { path: ['/n', '/tags'], prefix: 'k1' },
};
type Window = ScanOptions | Omit<IndexScanOptions, 'signal' | 'wait'>;

const keyOf = (from: Random) => `k${10 + from.below(16)}`;

/** Few values, so that each of them stands for several rows. */
const rowOf = (from: Random) => ({
  n: from.below(3),
  tags: Array.from({ length: from.below(4) }, () => from.pick(['x', 'y', 'z'])),
  // Some lie outside of their leaves.
  ...(from.below(12) === 0 ? { text: 'x'.repeat(5000) } : {}),
});

function windowOf(from: Random): Window {
  const how = {
    ...(from.below(4) > 0 ? { limit: from.below(9) } : {}),
    ...(from.below(2) === 0 ? { reverse: true } : {}),
  };
  const [low, high] = [keyOf(from), keyOf(from)].sort() as [string, string];
  const range = from.pick<() => Window>([
    () => ({}),
    () => ({ prefix: 'k1' }),
    () => ({ gte: low, lt: high }),
    () => ({ gt: low, lte: high }),
    () => ({ index: 'n' }),
    () => ({ index: 'n', equals: from.below(3) }),
    () => ({ index: 'n', gt: from.below(2) }),
    () => ({ index: 'tag' }),
    () => ({ index: 'tag', gte: from.pick(['x', 'y']) }),
    () => ({ index: 'tag', prefix: from.pick(['x', 'z']) }),
    () => ({ index: 'both', gte: [from.below(3)] }),
    () => ({ index: 'both', gte: [0, 'y'], lt: [2, 'y'] }),
  ])();
  return { ...range, ...how };
}

/** Returns the rows of a window in the model. */
function expectedOf(rows: ReadonlyMap<string, unknown>, window: Window): unknown[] {
  if (!('index' in window)) return select(sorted(rows), window);
  const { index, ...range } = window;
  const definition = INDEXES[index];
  if (definition === undefined) throw new Error('no such index');
  return selectEntries(entriesOfRows(definition, sorted(rows)), range);
}

type Reads = Pick<Store | Transaction, 'scan'>;

/** Reads a window in one of several ways. */
async function read(from: Random, reads: Reads, window: Window): Promise<[string, unknown[]]> {
  const scan = reads.scan(window as ScanOptions);
  const byHand = async (rows: Rows<unknown>, most: number) => {
    const found: unknown[] = [];
    for await (const row of rows) if (found.push(row) === most) break;
    return found;
  };
  const most = 1 + from.below(6);
  switch (from.below(5)) {
    case 0:
      return ['keys', await scan.keys().toArray()];
    case 1:
      return ['values', await scan.values().toArray()];
    case 2:
      return [`first ${most}`, await byHand(scan, most)];
    case 3:
      return ['for await', await byHand(scan, 0)];
    default:
      return ['toArray', await scan.toArray()];
  }
}

function shaped(way: string, expected: unknown[]): unknown[] {
  const rows = expected as Entry[];
  if (way === 'keys') return rows.map(([key]) => key);
  if (way === 'values') return rows.map(([, value]) => value);
  return way.startsWith('first ') ? rows.slice(0, Number(way.slice(6))) : rows;
}

async function check(from: Random, reads: Reads, rows: Map<string, unknown>, what: string) {
  for (let step = 0; step < 12; step++) {
    const window = windowOf(from);
    const [way, got] = await read(from, reads, window);
    const expected = shaped(way, expectedOf(rows, window));
    expectNoFault(stepFault(step, { what, way, window }, got, expected));
  }
}

it('equal the windows of a model, for random rows and edits', async () => {
  await forSeeds(40, async (from) => {
    const db = await open('windows', { storage: memory(), indexes: INDEXES });
    const rows = new Map<string, unknown>();
    for (let left = from.below(20); left > 0; left--) rows.set(keyOf(from), rowOf(from));
    await db.putMany(rows);
    for (const index of Object.keys(INDEXES)) await db.count({ index });
    await check(from, db, rows, 'store');
    const before = new Map(rows);
    using snapshot = db.snapshot();
    await db.transaction(async (tx) => {
      await check(from, tx, rows, 'transaction without edits');
      for (let round = 0; round < 3; round++) {
        for (let edits = 1 + from.below(4); edits > 0; edits--) {
          const key = keyOf(from);
          if (from.below(3) === 0) {
            tx.delete(key);
            rows.delete(key);
          } else {
            const value = rowOf(from);
            tx.put(key, value);
            rows.set(key, value);
          }
        }
        await check(from, tx, rows, `transaction with edits of round ${round}`);
      }
    });
    await check(from, db, rows, 'store after its commit');
    await check(from, snapshot, before, 'snapshot from before it');
    await db.close();
  });
});
