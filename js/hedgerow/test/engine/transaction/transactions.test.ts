/**
 * Transactions of several handles on one store, interleaved with other writers in every way, have the same outcome as
 * in some serial order.
 */
import { expect, it } from 'vitest';
import type { ScanOptions } from '../../../src/engine/read/scan-options.js';
import { memory, open, type Store, type Transaction } from '../../../src/index.js';
import { type WatchedStorage, watched } from '../../support/doubles/watched-storage.js';
import {
  all,
  compareKeys,
  type Entry,
  expectSame,
  rankIn,
  select,
  sorted,
} from '../../support/models/store-model.js';
import { expectNoFault, forSeeds, hasAllSeeds, stepFault } from '../../support/property.js';
import { type Random, random } from '../../support/random.js';

// With keys whose order differs between UTF-16 and UTF-8.
const KEYS = [
  'k',
  'k0',
  'k1',
  'k2',
  'k3',
  'k4',
  'k5',
  'ké',
  'k\u{e000}',
  'k～',
  'k😀',
  'k\u{10ffff}',
];

/** One step of a transaction's function, and its result. */
type Step =
  | { op: 'get'; key: string; result: unknown }
  | { op: 'getMany'; keys: string[]; result: unknown[] }
  | { op: 'has'; key: string; result: boolean }
  | { op: 'count'; range: ScanOptions; result: number }
  | { op: 'scan'; options: ScanOptions; take: number; result: Entry[] }
  | { op: 'keys'; options: ScanOptions; result: string[] }
  | { op: 'at'; options: ScanOptions; n: number; result: Entry | undefined }
  | { op: 'rank'; options: ScanOptions; key: string; result: number }
  | { op: 'put'; key: string; value: unknown }
  | { op: 'delete'; key: string };

function rangeOf(from: Random): ScanOptions {
  const [low, high] = [from.pick(KEYS), from.pick(KEYS)].sort(compareKeys) as [string, string];
  return from.pick<() => ScanOptions>([
    () => ({ prefix: 'k' }),
    () => ({ prefix: low }),
    () => ({ gte: low, lt: high }),
    () => ({ gt: low, lte: high }),
    () => ({ prefix: 'k', gt: high }),
    () => ({ gte: 'k', lte: low }),
  ])();
}

/** Runs a random step; the value that it puts depends on the reads of the steps before it. */
async function step(tx: Transaction, from: Random, before: readonly Step[]): Promise<Step> {
  const key = from.pick(KEYS);
  const options = { ...rangeOf(from), reverse: from.below(2) === 0 };
  const limited = {
    ...options,
    ...(from.below(2) === 0 && { limit: from.below(6) }),
    ...(from.below(2) === 0 && { offset: from.below(6) }),
    ...(from.below(4) === 0 && { after: from.pick(KEYS) }),
  };
  switch (from.below(11)) {
    case 0:
      return { op: 'get', key, result: await tx.get(key) };
    case 1: {
      const keys = Array.from({ length: from.below(5) }, () => from.pick(KEYS));
      return { op: 'getMany', keys, result: await tx.getMany(keys) };
    }
    case 2:
      return { op: 'has', key, result: await tx.has(key) };
    case 3: {
      const range = rangeOf(from);
      return { op: 'count', range, result: await tx.count(range) };
    }
    case 4: {
      const result: Entry[] = [];
      const take = 1 + from.below(4);
      for await (const row of tx.scan(limited)) {
        result.push(row);
        if (result.length === take) break;
      }
      return { op: 'scan', options: limited, take, result };
    }
    case 5: {
      const result = await tx.scan(limited).toArray();
      return { op: 'scan', options: limited, take: Number.POSITIVE_INFINITY, result };
    }
    case 6:
      return { op: 'keys', options: limited, result: await tx.scan(limited).keys().toArray() };
    case 7: {
      const n = from.below(8);
      return { op: 'at', options, n, result: await tx.at(n, options) };
    }
    case 8:
      return { op: 'rank', options, key, result: await tx.rank(key, options) };
    case 9:
      tx.delete(key);
      return { op: 'delete', key };
    default: {
      const text = JSON.stringify(before, (_, v) => (v instanceof Uint8Array ? v.length : v));
      let value: unknown = [...text].reduce((sum, c) => (sum * 31 + c.codePointAt(0)!) % 997, 7);
      // Some values are stored out of line.
      if (from.below(8) === 0) value = new Uint8Array(5000).fill(value as number);
      tx.put(key, value);
      return { op: 'put', key, value };
    }
  }
}

/** Applies a step to a model; returns the result that the step should have. */
function replay(rows: Map<string, unknown>, step: Step): unknown {
  const scan = (options: ScanOptions) => select(sorted(rows), options);
  switch (step.op) {
    case 'get':
      return rows.get(step.key);
    case 'getMany':
      return step.keys.map((key) => rows.get(key));
    case 'has':
      return rows.has(step.key);
    case 'count':
      return scan(step.range).length;
    case 'scan':
      return scan(step.options).slice(0, step.take);
    case 'keys':
      return scan(step.options).map(([key]) => key);
    case 'at':
      return scan(step.options)[step.n];
    case 'rank':
      return rankIn(scan(step.options), step.key, step.options.reverse);
    case 'put':
      rows.set(step.key, step.value);
      return undefined;
    default:
      rows.delete(step.key);
      return undefined;
  }
}

function matches(rows: Map<string, unknown>, steps: readonly Step[]): string | undefined {
  for (const [at, step] of steps.entries()) {
    const expected = replay(rows, step);
    if (!('result' in step)) continue;
    const { result, ...done } = step;
    const fault = stepFault(at, done, result, expected);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

async function ticks(from: Random, most: number): Promise<void> {
  for (let left = from.below(most + 1); left > 0; left--) await tick();
}

interface Outcome {
  /** The steps of the last run of the function. */
  steps: Step[];
  runs: number;
  thrown: boolean;
}

const MARK = '~/';

class Mine extends Error {}

/** Makes a random transaction, which marks its commit with a row of its own. */
async function transact(db: Store, from: Random, number: number): Promise<Outcome> {
  const outcome: Outcome = { steps: [], runs: 0, thrown: from.below(8) === 0 };
  const length = 1 + from.below(7);
  // The same choices in each run.
  const seed = from.below(2 ** 31);
  const isRead = from.below(6) === 0;
  const done = db.transaction(async (tx) => {
    const choices = random(seed);
    const steps: Step[] = [];
    outcome.steps = steps;
    outcome.runs += 1;
    for (let at = 0; at < length; at++) {
      const made = isRead ? undefined : await step(tx, choices, steps);
      if (isRead) {
        const key = choices.pick(KEYS);
        steps.push({ op: 'get', key, result: await tx.get(key) });
      } else if (made !== undefined) steps.push(made);
      await ticks(choices, 2);
    }
    if (outcome.thrown) throw new Mine();
    if (!isRead) tx.put(`${MARK}${number}`, outcome.runs);
    return number;
  });
  if (outcome.thrown) await expect(done).rejects.toBeInstanceOf(Mine);
  else expect(await done).toBe(number);
  return outcome;
}

/** The roots of a store, one for each commit. */
function rootsOf({ written }: WatchedStorage): string[] {
  return written.flatMap(({ move }) =>
    move === undefined ? [] : [Buffer.from(move.commitBytes).toString('hex')],
  );
}

const SEEDS = 40;

it('transactions have the outcome of some serial order', async () => {
  const totals = { transactions: 0, runs: 0, commits: 0 };
  await forSeeds(SEEDS, async (from) => {
    const storage = watched(memory());
    const handles: Store[] = [];
    for (let at = 0; at < 3; at++) handles.push(await open('test', { storage }));
    const other = await open('test', { storage });
    await other.putMany(KEYS.filter(() => from.below(2) === 0).map((key): Entry => [key, 0]));
    // Each write is delayed, so that others can overtake it.
    storage.hooks.write = () => ticks(from, 3);
    // The commits are compared at the end: a collection that starts by itself deletes no segment.
    storage.hooks.delete = () => Promise.reject(new Error('kept'));

    let number = 0;
    const outcomes = new Map<number, Outcome>();
    const tab = async (db: Store) => {
      for (let at = 0; at < 4; at++) {
        const calls = Array.from({ length: 1 + from.below(2) }, async () => {
          const own = number++;
          outcomes.set(own, await transact(db, from, own));
        });
        await Promise.all(calls);
        await ticks(from, 2);
      }
    };
    const writes = async () => {
      for (let at = 0; at < 4; at++) {
        const some = from.shuffle(KEYS).slice(0, from.below(4));
        await (from.below(2) === 0
          ? other.putMany(some.map((key): Entry => [key, -at]))
          : other.delete(from.pick(KEYS)));
        await ticks(from, 4);
      }
    };
    await Promise.all([...handles.map(tab), writes()]);

    // Replay them one after the other, in the order of commits.
    const rows = new Map<string, unknown>();
    const states = [new Map(rows)];
    const left = new Map(outcomes);
    let before = '0'.repeat(64);
    const reader = await open('test', { storage });
    for (const root of rootsOf(storage)) {
      const changes = await reader.history.diff(before, root).toArray();
      before = root;
      const marks = changes.filter(({ key }) => key.startsWith(MARK));
      const after = new Map(rows);
      for (const change of changes) {
        if (change.op === 'delete') after.delete(change.key);
        else after.set(change.key, change.newValue);
      }
      if (marks.length > 0) {
        expect(marks).toHaveLength(1);
        const own = Number(marks[0]!.key.slice(MARK.length));
        const outcome = left.get(own)!;
        left.delete(own);
        expectNoFault(matches(rows, outcome.steps), `transaction ${own}`);
        rows.set(`${MARK}${own}`, outcome.runs);
        expectSame(sorted(rows), sorted(after), `transaction ${own}`);
      }
      rows.clear();
      for (const [key, value] of after) rows.set(key, value);
      states.push(new Map(rows));
    }
    expectSame(await all(reader), sorted(rows));
    // The others made no commit, and must have read one of the states.
    for (const [own, { steps, thrown }] of left) {
      const faults = states.map((state) => matches(new Map(state), steps));
      if (!faults.includes(undefined))
        expectNoFault(faults.at(-1), `transaction ${own}, at no commit`);
      expect(thrown || steps.every(({ op }) => op === 'get')).toBe(true);
    }
    totals.transactions += outcomes.size;
    totals.commits += states.length - 1;
    for (const { runs } of outcomes.values()) totals.runs += runs;
  });
  console.log(
    `${totals.transactions} transactions, ${totals.runs} runs, ${totals.commits} commits`,
  );
  if (hasAllSeeds(SEEDS)) {
    expect(totals.runs).toBeGreaterThan(totals.transactions * 1.1);
  }
});
