/**
 * Transactions of several handles that read by index have the effect of a serial order, and run again when their reads
 * are stale.
 */
import { describe, expect, it } from 'vitest';
import { type IndexDefinitions, memory, open, type Store } from '../../../src/index.js';
import { type WatchedStorage, watched } from '../../support/doubles/watched-storage.js';
import { fault, type Step, step } from '../../support/models/index-steps.js';
import {
  choosePalette,
  definitionsOf,
  KEYS,
  modelOf,
  rowValue,
} from '../../support/models/indexed-rows.js';
import { all, type Entry, expectSame, SOON, sorted } from '../../support/models/store-model.js';
import { expectNoFault, forSeeds, hasAllSeeds } from '../../support/property.js';
import { type Random, random } from '../../support/random.js';

async function ticks(from: Random, most: number): Promise<void> {
  for (let left = from.below(most + 1); left > 0; left--) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

const MARK = '~/';

interface Outcome {
  /** The steps of the last run of the function. */
  steps: Step[];
  runs: number;
}

/** Makes a random transaction, which marks its commit by a row of its own that no index takes. */
async function transact(
  db: Store,
  from: Random,
  definitions: IndexDefinitions,
  number: number,
): Promise<Outcome> {
  const outcome: Outcome = { steps: [], runs: 0 };
  const length = 2 + from.below(9);
  // Each run makes the same choices.
  const seed = from.below(2 ** 31);
  await db.transaction(async (tx) => {
    const choices = random(seed);
    const steps: Step[] = [];
    outcome.steps = steps;
    outcome.runs += 1;
    for (let at = 0; at < length; at++) {
      steps.push(await step(tx, choices, definitions, steps));
      await ticks(choices, 2);
    }
    tx.put(`${MARK}${number}`, [null, outcome.runs]);
  });
  return outcome;
}

/** The roots of a store, one for each commit. */
function rootsOf({ written }: WatchedStorage): string[] {
  return written.flatMap(({ move }) =>
    move === undefined ? [] : [Buffer.from(move.commitBytes).toString('hex')],
  );
}

/**
 * Definitions that never list mark rows: `[null, runs]` is listed where the whole value is indexed, and where null is.
 */
const definitionsOfMarked = (from: Random) =>
  Object.fromEntries(
    Object.entries(definitionsOf(from)).filter(
      ([name, { nulls, prefix }]) => name !== 'whole' && (!nulls || prefix !== undefined),
    ),
  ) as IndexDefinitions;

const SEEDS = 25;

describe('transactions that read by index', () => {
  it('have the effect of a serial order', async () => {
    const totals = { transactions: 0, runs: 0, commits: 0 };
    await forSeeds(SEEDS, async (from, seed) => {
      choosePalette(from);
      const indexes = { ...definitionsOfMarked(from), owner: { path: '/owner' } };
      // Handles that see each other's commits, like tabs.
      const storage = watched({ ...memory(), isShared: true });
      const handles: Store[] = [];
      for (let at = 0; at < 2; at++)
        handles.push(await open(`by index ${seed}`, { storage, indexes }));
      // This handle keeps the indexes, though it does not name them.
      const other = await open(`by index ${seed}`, { storage });
      const [first] = handles as [Store, Store];
      const some = KEYS.filter(() => from.below(2) === 0);
      await first.putMany([['~', 0], ...some.map((key): Entry => [key, rowValue(from)])]);
      // Each write waits, so that others can commit first.
      storage.hooks.write = () => ticks(from, 3);
      // The commits are compared at the end: a collection that starts by itself deletes no segment.
      storage.hooks.delete = () => Promise.reject(new Error('kept'));

      let number = 0;
      const outcomes = new Map<number, Outcome>();
      const tab = async (db: Store) => {
        for (let at = 0; at < 4; at++) {
          const calls = Array.from({ length: 1 + from.below(2) }, async () => {
            const own = number++;
            outcomes.set(own, await transact(db, from, indexes, own));
          });
          await Promise.all(calls);
          await ticks(from, 2);
        }
      };
      const writes = async () => {
        for (let at = 0; at < 4; at++) {
          const some = from.shuffle(KEYS).slice(0, from.below(4));
          await (from.below(2) === 0
            ? other.putMany(some.map((key): Entry => [key, rowValue(from)]))
            : other.delete(from.pick(KEYS)));
          await ticks(from, 4);
        }
      };
      await Promise.all([...handles.map(tab), writes()]);

      // One after the other, in the order of commits.
      const rows = new Map<string, unknown>();
      const left = new Map(outcomes);
      let before = '0'.repeat(64);
      const reader = await open(`by index ${seed}`, { storage });
      for (const root of rootsOf(storage)) {
        const after = new Map(rows);
        let mark: string | undefined;
        for (const change of await reader.history.diff(before, root).toArray()) {
          if (change.op === 'delete') after.delete(change.key);
          else after.set(change.key, change.newValue);
          if (!change.key.startsWith(MARK)) continue;
          expect(mark, 'two transactions in one commit').toBeUndefined();
          mark = change.key;
        }
        before = root;
        if (mark !== undefined) {
          const own = Number(mark.slice(MARK.length));
          const { steps, runs } = left.get(own) as Outcome;
          left.delete(own);
          expectNoFault(fault(rows, indexes, steps), `transaction ${own}`);
          rows.set(mark, [null, runs]);
          expectSame(sorted(rows), sorted(after), `transaction ${own}`);
        }
        rows.clear();
        for (const [key, value] of after) rows.set(key, value);
      }
      expect(left.size).toBe(0);
      expectSame(await all(reader), sorted(rows));
      for (const db of handles) {
        await expect.poll(() => db.root, SOON).toBe(reader.root);
        for (const index of Object.keys(indexes)) {
          const expected = modelOf(rows, indexes, { index });
          expectSame(await db.scan({ index }).toArray(), expected, index);
        }
      }
      totals.transactions += outcomes.size;
      totals.commits += rootsOf(storage).length;
      for (const { runs } of outcomes.values()) totals.runs += runs;
      for (const db of [...handles, other, reader]) await db.close();
    });
    console.log(
      `${totals.transactions} transactions, ${totals.runs} runs, ${totals.commits} commits`,
    );
    if (hasAllSeeds(SEEDS)) {
      expect(totals.runs).toBeGreaterThan(totals.transactions * 1.05);
    }
  });
});

describe('a transaction that has read keys by index', () => {
  it.each([
    ['moves among them', { owner: 'c' }, ['b', 'a'], 2],
    ['changes elsewhere', { owner: 'a', age: 1 }, ['a', 'b'], 1],
    ['leaves them', {}, ['b'], 2],
    ['gets another key that is out of the range', { owner: 'a', tags: ['x'] }, ['a', 'b'], 1],
  ] as const)('runs again if it must when a row %s', async (_, value, expected, most) => {
    const storage = memory();
    const indexes = { owner: { path: '/owner' }, tags: { path: '/tags' } };
    const db = await open('test', { storage, indexes });
    const other = await open('test', { storage });
    await db.putMany([
      ['a', { owner: 'a' }],
      ['b', { owner: 'b' }],
    ]);
    let runs = 0;
    const keys = await db.transaction(async (tx) => {
      const found = await tx.scan({ index: 'owner', gte: 'a', lte: 'z' }).keys().toArray();
      if (runs++ === 0) await other.put('a', value);
      tx.put('seen', found);
      return found;
    });
    expect(keys).toEqual(expected);
    expect(await db.get('seen')).toEqual(expected);
    expect(runs).toBe(most);
  });
});
