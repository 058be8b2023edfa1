/** Random commits and reverts of two handles, compared with a model, with indexes, sums, branches and collections. */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { turn } from '../../../src/base/slice-queue.js';
import type { CommitResult } from '../../../src/engine/transaction/run.js';
import { memory, open, type Store } from '../../../src/index.js';
import { all, expectSame, sorted } from '../../support/models/store-model.js';
import { type BeginStep, forSeeds, hasAllSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';

type Rows = Map<string, number>;
interface Change extends Pick<CommitResult<unknown>, 'before' | 'after'> {
  readonly old: Rows;
  readonly now: Rows;
  readonly isKept: boolean;
}

/** Reverts a change in `rows`. */
function reverted(rows: Rows, from: Rows, to: Rows) {
  const keys = [...new Set([...from.keys(), ...to.keys()])].sort();
  const kept: string[] = [];
  let count = 0;
  for (const key of keys) {
    const [was, is, now] = [to.get(key), from.get(key), rows.get(key)];
    if (was === is || now === was) continue;
    if (now !== is) {
      kept.push(key);
      continue;
    }
    count += 1;
    if (was === undefined) rows.delete(key);
    else rows.set(key, was);
  }
  return { rows: count, kept };
}

const KINDS = ['commit', 'commit', 'commit', 'undo', 'undo', 'redo', 'put', 'collect', 'together'];
const tally = { undone: 0, kept: 0, gone: 0, together: 0 };

function edit(from: Random, rows: Rows, stamp: number): [string, number | undefined][] {
  const edits = Array.from({ length: 1 + from.below(from.pick([3, 30])) }, (_, at) => {
    const value = from.below(4) === 0 ? undefined : from.pick([at, stamp * 100 + at]);
    return [`k${from.below(from.pick([20, 300]))}`, value] as [string, number | undefined];
  });
  for (const [key, value] of edits) {
    if (value === undefined) rows.delete(key);
    else rows.set(key, value);
  }
  return edits;
}

const caught = <T>(call: Promise<T>) => call.catch((cause: Error) => cause);

const write = (db: Store, edits: [string, number | undefined][], keep: boolean) =>
  db.history.commit(
    (tx) => {
      for (const [key, n] of edits) n === undefined ? tx.delete(key) : tx.put(key, { n });
    },
    { keep },
  );

const entriesOf = (rows: Rows) => sorted([...rows]).map(([key, n]) => [key, { n }]);

/** Waits for the commits of the other handle, which arrive a moment later. `check` fails when they never do. */
async function hear(db: Store, rows: Rows): Promise<void> {
  const wanted = entriesOf(rows);
  for (let turns = 0; turns < MAX_TURNS && !isDeepStrictEqual(await all(db), wanted); turns++) {
    await turn();
  }
}

async function check(db: Store, rows: Rows): Promise<void> {
  expectSame(await all(db), entriesOf(rows));
  const numbers = [...rows.values()];
  expect(db.sumTree('total').root.sum).toBe(BigInt(numbers.reduce((sum, n) => sum + n, 0)));
  const found = await db.scan<{ n: number }>({ index: 'n' }).values().toArray();
  expect(found.map(({ n }) => n)).toEqual(numbers.sort((a, b) => a - b));
}

const SEEDS = 20;
const MAX_TURNS = 1000;

describe('random commits and reverts of two handles', () => {
  it('agree with a model, with collections in between', async () => {
    await forSeeds(SEEDS, run);
    console.info(Object.entries(tally).flat().join(' '));
    if (!hasAllSeeds(SEEDS)) return;
    expect(Math.min(tally.undone, tally.kept, tally.gone, tally.together)).toBeGreaterThan(
      SEEDS / 4,
    );
  });

  async function run(from: Random, _: number, begin: BeginStep): Promise<void> {
    const options = {
      storage: memory(),
      indexes: { n: { path: '/n' } },
      advanced: { sums: { total: { sum: '/n' } } },
    };
    const dbs = [await open('test', options), await open('test', options)] as const;
    const rows: Rows = new Map();
    const changes: Change[] = [];
    for (let step = 0; step < 30; step++) {
      const db = from.pick(dbs);
      const kind = changes.length === 0 ? 'commit' : from.pick(KINDS);
      begin({ kind, handle: dbs.indexOf(db) });
      const change = from.pick(changes.length === 0 ? [undefined] : changes.slice(-12));
      if (kind === 'commit') {
        const old = new Map(rows);
        const isKept = from.below(2) === 0;
        const done = await write(db, edit(from, rows, step), isKept);
        const { before, after } = done;
        changes.push({ before, after, old, now: new Map(rows), isKept });
        expect(after).toBe(db.root);
      } else if (kind === 'put') {
        rows.set('k3', step);
        await db.put('k3', { n: step });
      } else if (kind === 'collect') {
        await dbs[0].health.compact();
      } else if (kind === 'together') {
        // A revert, and a write of other rows at the same time.
        tally.together += 1;
        const last = changes.at(-1) as Change;
        const [one, two] = step % 2 ? dbs : [dbs[1], dbs[0]];
        const undoing = caught(one.history.revert(last.before, last.after));
        await Promise.all([undoing, two.put(`z${step}`, { n: step })]);
        const result = await undoing;
        rows.set(`z${step}`, step);
        expectOutcome(result, rows, last.now, last.old, last.isKept);
      } else if (change !== undefined) {
        const [a, b] = kind === 'undo' ? [change.old, change.now] : [change.now, change.old];
        const [before, after] =
          kind === 'undo' ? [change.before, change.after] : [change.after, change.before];
        expectOutcome(await caught(db.history.revert(before, after)), rows, b, a, change.isKept);
      }
      // A handle sees its own edits at once.
      if (kind !== 'commit' && kind !== 'put') await hear(db, rows);
      await check(db, rows);
    }
    for (const db of dbs) {
      await hear(db, rows);
      await check(db, rows);
    }
    expect((await dbs[1].health.verify({ checkIndexes: true })).faults).toEqual([]);
    for (const db of dbs) await db.close();
  }

  function expectOutcome(result: unknown, rows: Rows, from: Rows, to: Rows, isKept: boolean): void {
    if (result instanceof Error && !isKept) {
      expect(result).toMatchObject({ code: 'missing-chunk' });
      tally.gone += 1;
      return;
    }
    const expected = reverted(rows, from, to);
    tally.undone += expected.rows;
    tally.kept += expected.kept.length;
    expect(result).toMatchObject(expected);
  }
});
