/**
 * Indexes under random changes of several handles: what a transaction sees by an index is the model
 * of its base and its own edits, and after each commit every index is that of the rows.
 */
import { describe, expect, it } from 'vitest';
import {
  type IndexDefinition,
  type IndexDefinitions,
  type IndexScanOptions,
  memory,
  open,
  type PatchOperation,
  type Store,
  type Transaction,
} from '../src/index.js';
import { entriesOfRows, type IndexedEntry, selectEntries } from './index-model.js';
import { all, compareKeys, type Entry, expectSame, select, sorted, stepFault } from './model.js';
import { forSeeds, type Random, random } from './random.js';
import { type WatchedStorage, watched } from './watched-storage.js';

// Those where the order of UTF-16 is not that of UTF-8 among them.
const KEYS = ['k', 'k0', 'k1', 'k1a', 'k2', 'k3', 'ké', 'k\u{e000}', 'k～', 'k😀', 'm', 'm1'];
const STRINGS = ['', 'a', 'ab', 'a\0', 'a\0b', 'a\x01', 'b', '～', '😀'];
const NUMBERS = [-1e300, -2, -1.5, 0, -0, 5e-324, 0.1, 1, 2, 10];

const POOL: readonly (readonly [string, IndexDefinition])[] = [
  ['owner', { path: '/owner' }],
  ['tags', { path: '/tags' }],
  ['state', { path: ['/owner', '/age'] }],
  ['mixed', { path: ['/age', '/tags'], prefix: 'k' }],
  ['some', { path: '/age', prefix: 'k1' }],
  ['whole', { path: '' }],
];

function definitionsOf(from: Random): IndexDefinitions {
  return Object.fromEntries(from.shuffle(POOL).slice(0, 1 + from.below(3)));
}

/** The few values of a history, if it has few: then ranges hold several entries. */
let palette: readonly (string | number | boolean)[] = [];

function choosePalette(from: Random): void {
  palette = [];
  if (from.below(3) > 0) palette = Array.from({ length: 2 + from.below(2) }, () => scalarOf(from));
}

function scalarOf(from: Random): string | number | boolean {
  if (palette.length > 0 && from.below(8) > 0) return from.pick(palette);
  return from.pick<() => string | number | boolean>([
    () => from.pick(STRINGS),
    () => from.pick(NUMBERS),
    () => from.below(2) === 0,
  ])();
}

function memberOf(from: Random): unknown {
  const kind = from.below(8);
  if (kind === 0) return null;
  if (kind === 1) return { a: scalarOf(from) };
  if (kind < 4) return Array.from({ length: from.below(4) }, () => scalarOf(from));
  return scalarOf(from);
}

function rowValue(from: Random): unknown {
  const kind = from.below(12);
  if (kind === 0) return new Uint8Array(from.below(3) === 0 ? 5000 : 3).fill(from.below(9));
  if (kind === 1) return JSON.parse(JSON.stringify(memberOf(from)));
  const value: Record<string, unknown> = {};
  for (const name of from.shuffle(['owner', 'tags', 'age']).slice(0, 1 + from.below(3))) {
    value[name] = memberOf(from);
  }
  // Some that lie outside of their leaves.
  if (kind === 2) value.text = 'x'.repeat(5000);
  return JSON.parse(JSON.stringify(value));
}

type Range = Omit<IndexScanOptions, 'signal' | 'wait'>;

function rangeOf(from: Random, definitions: IndexDefinitions): Range {
  const [index, { path }] = from.pick(Object.entries(definitions)) as [string, IndexDefinition];
  const bound = () => {
    if (typeof path === 'string') return scalarOf(from);
    return Array.from({ length: 1 + from.below(path.length) }, () => scalarOf(from));
  };
  return {
    index,
    ...from.pick<() => Omit<Range, 'index'>>([
      () => ({}),
      () => ({ equals: bound() }),
      () => ({ prefix: from.pick(STRINGS) }),
      () => ({ gt: bound() }),
      () => ({ lte: bound() }),
      () => ({ gte: bound(), lt: bound() }),
      () => ({ gt: bound(), lte: bound() }),
    ])(),
  };
}

/** What an index holds in the rows, in a range. */
function modelOf(
  rows: ReadonlyMap<string, unknown>,
  definitions: IndexDefinitions,
  { index, ...range }: Range,
): IndexedEntry[] {
  return selectEntries(entriesOfRows(definitions[index] as IndexDefinition, sorted(rows)), range);
}

/** One step of a transaction's function, and what it gave. */
type Step =
  | { op: 'get'; key: string; result: unknown }
  | { op: 'count'; range: Range; result: number }
  | { op: 'scan'; range: Range; take: number; result: IndexedEntry[] }
  | { op: 'keys'; range: Range; result: string[] }
  | { op: 'rows'; prefix: string; result: Entry[] }
  | { op: 'put'; key: string; value: unknown }
  | { op: 'delete'; key: string };

async function step(
  tx: Transaction,
  from: Random,
  definitions: IndexDefinitions,
  before: readonly Step[],
): Promise<Step> {
  const key = from.pick(KEYS);
  const whole = rangeOf(from, definitions);
  const limit = from.below(2) === 0 ? {} : { limit: from.below(6) };
  const offset = from.below(2) === 0 ? {} : { offset: from.below(4) };
  const range: Range = { ...whole, reverse: from.below(2) === 0, ...limit, ...offset };
  switch (from.below(11)) {
    case 0:
      return { op: 'get', key, result: await tx.get(key) };
    case 1:
    case 2:
      return { op: 'count', range: whole, result: await tx.count(whole) };
    case 3: {
      const result: IndexedEntry[] = [];
      const take = 1 + from.below(3);
      for await (const [found, value, secondary] of tx.scan(range)) {
        result.push([found, value, secondary]);
        if (result.length === take) break;
      }
      return { op: 'scan', range, take, result };
    }
    case 4: {
      const result = (await tx.scan(range).toArray()) as IndexedEntry[];
      return { op: 'scan', range, take: Number.POSITIVE_INFINITY, result };
    }
    case 5:
      return { op: 'keys', range, result: await tx.scan(range).keys().toArray() };
    case 6: {
      const prefix = from.pick(['k1', 'm', 'k～']);
      return { op: 'rows', prefix, result: await tx.scan({ prefix }).toArray() };
    }
    case 7:
      tx.delete(key);
      return { op: 'delete', key };
    default: {
      // What it puts depends on what it has read.
      const text = JSON.stringify(before, (_, v) => (v instanceof Uint8Array ? v.length : v));
      const seed = [...text].reduce((sum, c) => (sum * 31 + (c.codePointAt(0) ?? 0)) % 9973, 7);
      const value = rowValue(random(seed));
      tx.put(key, value);
      return { op: 'put', key, value };
    }
  }
}

/** What a step should have given; makes its edit. */
function replay(rows: Map<string, unknown>, definitions: IndexDefinitions, step: Step): unknown {
  switch (step.op) {
    case 'get':
      return rows.get(step.key);
    case 'count':
      return modelOf(rows, definitions, step.range).length;
    case 'scan':
      return modelOf(rows, definitions, step.range).slice(0, step.take);
    case 'keys':
      return modelOf(rows, definitions, step.range).map(([key]) => key);
    case 'rows':
      return select(sorted(rows), { prefix: step.prefix });
    case 'put':
      rows.set(step.key, step.value);
      return undefined;
    default:
      rows.delete(step.key);
      return undefined;
  }
}

/** The first step that did not give what it should have. */
function fault(
  rows: Map<string, unknown>,
  definitions: IndexDefinitions,
  steps: readonly Step[],
): string | undefined {
  for (const [at, step] of steps.entries()) {
    const expected = replay(rows, definitions, step);
    if (!('result' in step)) continue;
    const { result, ...done } = step;
    const fault = stepFault(at, done, result, expected);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

async function ticks(from: Random, most: number): Promise<void> {
  for (let left = from.below(most + 1); left > 0; left--) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

const MARK = '~/';

interface Outcome {
  /** What the last run of the function did. */
  steps: Step[];
  runs: number;
}

/** A random transaction, which marks its commit by a row of its own that no index takes. */
async function transact(
  db: Store,
  from: Random,
  definitions: IndexDefinitions,
  number: number,
): Promise<Outcome> {
  const outcome: Outcome = { steps: [], runs: 0 };
  const length = 2 + from.below(9);
  // The same choices in each run.
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

/** The roots that a store had, one for each commit. */
function rootsOf({ written }: WatchedStorage): string[] {
  return written.flatMap(({ move }) =>
    move === undefined ? [] : [Buffer.from(move.commitBytes).toString('hex')],
  );
}

/** Of entries the mark rows are no part: `[null, runs]` has one where the whole value is indexed. */
const definitionsOfMarked = (from: Random) =>
  Object.fromEntries(
    Object.entries(definitionsOf(from)).filter(([name]) => name !== 'whole'),
  ) as IndexDefinitions;

/** Others hear of a commit a moment later. */
const SOON = { interval: 2, timeout: 20_000 };

const SEEDS = Number(process.env.SEEDS ?? 25);

describe('transactions that read by index', () => {
  it(
    'come to what they would come to one after the other',
    async () => {
      const totals = { transactions: 0, runs: 0, commits: 0 };
      await forSeeds(SEEDS, async (from, seed) => {
        choosePalette(from);
        const indexes = { ...definitionsOfMarked(from), owner: { path: '/owner' } };
        // Handles that hear of each other, as tabs do.
        const storage = watched({ ...memory(), isShared: true });
        const handles: Store[] = [];
        for (let at = 0; at < 2; at++)
          handles.push(await open(`by index ${seed}`, { storage, indexes }));
        // It keeps the indexes without having asked for them.
        const other = await open(`by index ${seed}`, { storage });
        const [first] = handles as [Store, Store];
        const some = KEYS.filter(() => from.below(2) === 0);
        await first.putMany([['~', 0], ...some.map((key): Entry => [key, rowValue(from)])]);
        // Each write waits for others to come in front of it.
        storage.hooks.write = () => ticks(from, 3);

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
          for (const change of await reader.diff(before, root).toArray()) {
            if (change.op === 'del') after.delete(change.key);
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
            expect(fault(rows, indexes, steps), `transaction ${own}`).toBeUndefined();
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
      if (process.env.SEED === undefined) {
        expect(totals.runs).toBeGreaterThan(totals.transactions * 1.05);
      }
    },
    60_000 + 2000 * SEEDS,
  );
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

function operationOf(from: Random): PatchOperation {
  const key = from.pick(KEYS);
  const kind = from.below(12);
  if (kind === 0) return { op: 'clear' };
  if (kind < 4) return { op: 'del', key };
  if (kind < 8) return { op: 'put', key, value: rowValue(from) };
  const merge = {
    [from.pick(['owner', 'tags', 'age'])]: JSON.parse(JSON.stringify(memberOf(from))),
  };
  return { op: 'update', key, merge };
}

/** Makes a random change of the store and of the rows of the model. */
async function change(
  db: Store,
  from: Random,
  rows: Map<string, unknown>,
  definitions: IndexDefinitions,
): Promise<string> {
  const key = from.pick(KEYS);
  switch (from.below(8)) {
    case 0: {
      const value = rowValue(from);
      rows.set(key, value);
      await db.put(key, value);
      return 'put';
    }
    case 1:
      rows.delete(key);
      await db.delete(key);
      return 'delete';
    case 2: {
      const many = Array.from(
        { length: from.below(3) === 0 ? 300 : from.below(6) },
        (_, at): Entry => [from.below(3) === 0 ? from.pick(KEYS) : `k1${at}`, rowValue(from)],
      );
      for (const [one, value] of many) rows.set(one, value);
      await db.putMany(many);
      return 'putMany';
    }
    case 3: {
      const [gte, lt] = [key, from.pick(KEYS)].sort(compareKeys) as [string, string];
      for (const one of [...rows.keys()]) {
        if (compareKeys(one, gte) >= 0 && compareKeys(one, lt) < 0) rows.delete(one);
      }
      await db.deleteMany({ gte, lt });
      return 'deleteMany';
    }
    case 4: {
      if (from.below(3) > 0) return 'nothing';
      rows.clear();
      await db.clear();
      return 'clear';
    }
    case 5:
    case 6: {
      const patch = Array.from({ length: from.below(9) }, () => operationOf(from));
      const after = new Map(rows);
      try {
        for (const one of patch) {
          if (one.op === 'clear') after.clear();
          else if (one.op === 'del') after.delete(one.key);
          else if (one.op === 'put') after.set(one.key, one.value);
          else {
            const had = after.has(one.key) ? after.get(one.key) : {};
            const isObject = typeof had === 'object' && had !== null && !Array.isArray(had);
            if (!isObject || had instanceof Uint8Array) throw new Error('no object');
            after.set(one.key, { ...had, ...one.merge });
          }
        }
      } catch {
        // What a clear takes away is not looked at.
        await db.applyPatch(patch).then(
          () => expect(patch.some(({ op }) => op !== 'update')).toBe(true),
          (error: { code?: string }) => expect(error.code).toBe('invalid-patch'),
        );
        rows.clear();
        for (const [one, value] of await all(db)) rows.set(one, value);
        return 'refused';
      }
      await db.applyPatch(patch);
      rows.clear();
      for (const [one, value] of after) rows.set(one, value);
      return 'patch';
    }
    default: {
      let steps: Step[] = [];
      await db.transaction(async (tx) => {
        steps = [];
        for (let at = 0; at < 4; at++) steps.push(await step(tx, from, definitions, steps));
      });
      expect(fault(rows, definitions, steps)).toBeUndefined();
      return 'transaction';
    }
  }
}

/** Every index that a handle was opened with is what the rows make it. */
async function check(
  db: Store,
  definitions: IndexDefinitions,
  rows: Map<string, unknown>,
  from: Random,
): Promise<void> {
  expectSame(await all(db), sorted(rows));
  for (const index of Object.keys(definitions)) {
    const expected = modelOf(rows, definitions, { index });
    expectSame(await db.scan({ index }).toArray(), expected, index);
    expect(await db.count({ index })).toBe(expected.length);
    const range = rangeOf(from, definitions);
    expectSame(await db.scan(range).toArray(), modelOf(rows, definitions, range), index);
    expect(await db.count(range)).toBe(modelOf(rows, definitions, range).length);
  }
}

describe('the indexes of two handles', () => {
  it(
    'are those of the rows after each commit, and the root is that of a fresh store',
    async () => {
      const made = new Map<string, number>();
      await forSeeds(SEEDS, async (from, seed) => {
        choosePalette(from);
        const storage = { ...memory(), isShared: true };
        const rows = new Map<string, unknown>();
        // Who opens with other definitions has the old ones dropped and the new ones made.
        for (let life = 0; life < 3; life++) {
          const definitions = definitionsOf(from);
          const wanted = [definitions, from.below(2) === 0 ? definitions : undefined];
          const handles: Store[] = [];
          for (const indexes of wanted) {
            handles.push(await open(`indexes ${seed}`, { storage, indexes }));
          }
          const [first, second] = handles as [Store, Store];
          for (let at = 0; at < 8; at++) {
            const db = from.pick(handles);
            const hasIndexes = db === first || wanted[1] !== undefined;
            // Until it has them a transaction that wants them is refused.
            if (hasIndexes) await check(db, definitions, rows, from);
            const inTransactions = hasIndexes ? definitions : undefined;
            const what =
              inTransactions === undefined
                ? await putsOf(db, from, rows)
                : await change(db, from, rows, inTransactions);
            made.set(what, (made.get(what) ?? 0) + 1);
            await expect.poll(() => second.root === first.root, SOON).toBe(true);
            await check(first, definitions, rows, from);
            if (wanted[1] !== undefined) await check(second, definitions, rows, from);
            expectSame(await all(second), sorted(rows));
            const fresh = await open('test', { storage: memory(), indexes: definitions });
            await fresh.putMany(sorted(rows));
            // One that nobody wants any more is dropped a moment later.
            await expect.poll(() => first.root, SOON).toBe(fresh.root);
            await fresh.close();
          }
          for (const db of handles) await db.close();
        }
      });
      console.log([...made].map(([what, times]) => `${times} ${what}`).join(', '));
    },
    60_000 + 4000 * SEEDS,
  );
});

/** A change by a handle that knows of no index. */
async function putsOf(db: Store, from: Random, rows: Map<string, unknown>): Promise<string> {
  const many = Array.from(
    { length: 1 + from.below(40) },
    (): Entry => [from.pick(KEYS), rowValue(from)],
  );
  for (const [one, value] of many) rows.set(one, value);
  await db.putMany(many);
  return 'putMany of another';
}
