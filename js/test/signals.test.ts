/**
 * Signals are heard at every await, over the whole API: whenever a signal is aborted, the call settles within a
 * few turns, the store holds what it held or all of the write, and `close` settles.
 */
import { describe, expect, it } from 'vitest';
import { turn } from '../src/base/scheduler.js';
import { importStore, memory, open, type Store } from '../src/index.js';
import { failure, within } from './model.js';
import { type StuckStorage, stuckable } from './stuck-storage.js';
import { watched } from './watched-storage.js';

const ROWS = Array.from({ length: 600 }, (_, at) => ({
  id: `k${at}`,
  n: at,
  text: 'x'.repeat(90),
}));
// More than a commit hands over in the slice that made it.
const NEW = Array.from({ length: 600 }, (_, at) => ({ id: `n${at}`, n: at, text: 'y'.repeat(90) }));
const pairs = (rows: typeof ROWS) => rows.map((row) => [row.id, row] as const);
const ndjson = (rows: typeof ROWS) => new Blob(rows.map((row) => `${JSON.stringify(row)}\n`));
const value = new Uint8Array(3);
const leaves = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ key: `leaf ${at}`, value, sum: 1n }));

const INDEXES = { n: { path: '/n' } };
const SUMS = { total: { sum: '/n' } };

interface Scene {
  readonly db: Store;
  readonly storage: StuckStorage;
  /** An export of a store. */
  readonly copy: Blob;
}

interface Call {
  readonly title: string;
  run(scene: Scene, signal: AbortSignal): Promise<unknown>;
  /** Fewer calls of storage than two are made for it: what it needs is in memory. */
  readonly reads?: 0;
}

async function* slowly<T>(rows: readonly T[]): AsyncGenerator<T> {
  for (const [at, row] of rows.entries()) {
    if (at % 100 === 0) await turn();
    yield row;
  }
}

const drained = async (source: AsyncIterable<unknown>) => {
  let count = 0;
  for await (const _ of source) count += 1;
  return count;
};

let imports = 0;

const CALLS: Call[] = [
  { title: 'putMany of an array', run: ({ db }, signal) => db.putMany(pairs(NEW), { signal }) },
  {
    title: 'putMany of a generator',
    run: ({ db }, signal) => db.putMany(pairs(NEW).values(), { signal }),
  },
  {
    title: 'putMany of an async source',
    run: ({ db }, signal) => db.putMany(slowly(pairs(NEW)), { signal }),
  },
  {
    title: 'putMany of bytes',
    run: ({ db }, signal) => db.putMany(ndjson(NEW), { key: '/id', signal }),
  },
  {
    title: 'putMany of a response',
    run: ({ db }, signal) => db.putMany(new Response(ndjson(NEW)), { key: '/id', signal }),
  },
  {
    title: 'deleteMany of keys',
    run: ({ db }, signal) =>
      db.deleteMany(
        ROWS.slice(0, 300).map(({ id }) => id),
        { signal },
      ),
  },
  {
    title: 'deleteMany of a range',
    run: ({ db }, signal) => db.deleteMany({ prefix: 'k1' }, { signal }),
  },
  {
    title: 'applyPatch',
    run: ({ db }, signal) =>
      db.applyPatch(
        ROWS.slice(0, 500).map(({ id: key }) => ({ op: 'update' as const, key, merge: { n: 7 } })),
        { signal },
      ),
  },
  {
    title: 'a transaction',
    run: ({ db }, signal) =>
      db.transaction(
        async (tx) => {
          const row = await tx.get<object>('k1');
          await turn();
          tx.put('k1', { ...row, n: (await tx.count()) + 1 });
        },
        { signal },
      ),
  },
  {
    title: 'merge',
    run: async ({ db }, signal) =>
      db.merge('draft', { signal, onConflict: async ({ theirs }) => theirs }),
  },
  { title: 'verify', run: ({ db }, signal) => db.verify({ signal }) },
  { title: 'repair', run: ({ db }, signal) => db.repair({ signal }) },
  {
    title: 'export',
    run: async ({ db }, signal) => drained(await db.export({ signal, branches: true })),
  },
  {
    title: 'importStore',
    run: ({ copy, storage }, signal) =>
      importStore(`copy ${imports++}`, async () => copy, { storage, signal }),
  },
  { title: 'scan', run: ({ db }, signal) => db.scan({ signal }).toArray() },
  { title: 'scan of keys', run: ({ db }, signal) => drained(db.scan({ signal }).keys()) },
  {
    title: 'scan of an index',
    run: ({ db }, signal) => db.scan({ index: 'n', signal }).toArray(),
  },
  {
    title: 'count of an index',
    reads: 0,
    run: ({ db }, signal) => db.count({ index: 'n', signal }),
  },
  {
    title: 'diff',
    run: ({ db }, signal) => db.diff('0'.repeat(64), db.root, { signal }).toArray(),
  },
  { title: 'changes', run: ({ db }, signal) => db.changes('0'.repeat(64), { signal }).toArray() },
  {
    title: 'putMany of a sum tree',
    run: ({ db }, signal) => db.sumTree('hand').putMany(leaves(200), { signal }),
  },
  {
    title: 'deleteMany of a sum tree',
    run: ({ db }, signal) => db.sumTree('hand').deleteMany(['leaf a'], { signal }),
  },
  {
    title: 'entries of a sum tree',
    run: ({ db }, signal) => db.sumTree('total').entries({ signal }).toArray(),
  },
];

/** So many turns of the event loop may pass until a call that was aborted has settled. */
const TURNS = 4;

async function sceneOf(cacheBytes?: number): Promise<Scene> {
  const storage = stuckable(memory());
  const made = await open('signals', { storage, indexes: INDEXES, sums: SUMS });
  await made.putMany(pairs(ROWS));
  await made.sumTree('hand').put('leaf a', { value, sum: 1n });
  const draft = await made.branch('draft');
  await draft.put('k1', { n: 1000 });
  await draft.putMany(pairs(NEW));
  await made.put('k1', { n: 2000 });
  await draft.close();
  const copy = await new Response((await made.export()).stream()).blob();
  await made.close();
  const options = { storage, indexes: INDEXES, sums: SUMS, cacheBytes, sliceMs: 1 };
  const db = await open('signals', options);
  await db.sumTree('total').get('k1');
  // What is loaded later is there.
  await db.diff(db.root, db.root).toArray();
  return { db, storage, copy };
}

/** How a call has ended. */
type End = { readonly made: unknown } | { readonly cause: unknown };

function watchedCall(promise: Promise<unknown>) {
  const state: { end?: End } = {};
  promise.then(
    (made) => {
      state.end = { made };
    },
    (cause: unknown) => {
      state.end = { cause };
    },
  );
  return state;
}

async function settles(state: { end?: End }, message: string): Promise<End> {
  for (let count = 0; count < TURNS && state.end === undefined; count++) await turn();
  expect(state.end, message).toBeDefined();
  return state.end as End;
}

/** The roots of all branches. */
const standing = async (db: Store) => (await db.branches()).map(({ root }) => root).join(' ');

const WAITS: [string, () => Promise<void>][] = [
  ['in the turn of the call', async () => {}],
  ...[1, 2, 3, 4, 5, 7, 9, 12, 16, 24, 40].map((count): [string, () => Promise<void>] => [
    `${count} microtasks later`,
    async () => {
      for (let at = 0; at < count; at++) await null;
    },
  ]),
  ...Array.from({ length: 30 }, (_, last): [string, () => Promise<void>] => [
    `${last + 1} turns later`,
    async () => {
      for (let at = 0; at <= last; at++) await turn();
    },
  ]),
];

describe('a signal', () => {
  for (const call of CALLS) {
    it(`of ${call.title} is heard whenever it is aborted`, async () => {
      const { db, ...rest } = await sceneOf();
      const scene = { db, ...rest };
      const before = await standing(db);
      await using held = holding(db);
      const gone = AbortSignal.abort('mine');
      const first = watchedCall(call.run(scene, gone));
      const refused = await settles(first, 'before the call');
      expect(refused).toEqual({ cause: failure('aborted', { cause: 'mine' }) });
      expect(await standing(db)).toBe(before);
      for (const [when, wait] of WAITS) {
        const abort = new AbortController();
        const state = watchedCall(call.run(scene, abort.signal));
        await wait();
        abort.abort('mine');
        const end = await settles(state, when);
        const now = await standing(db);
        if ('cause' in end) {
          expect(end, when).toEqual({ cause: failure('aborted', { cause: 'mine' }) });
          expect(now, when).toBe(before);
        } else if (now !== before) {
          await held.undo();
          expect(await standing(db)).toBe(before);
        }
      }
      await within(5000, db.close());
    });
  }

  for (const call of CALLS) {
    it(`of ${call.title} is heard while any call of storage is pending`, async () => {
      let nth = 1;
      for (; ; nth++) {
        const scene = await sceneOf(0);
        const { db, storage } = scene;
        const before = await standing(db);
        const abort = new AbortController();
        storage.stickAt(nth);
        const state = watchedCall(call.run(scene, abort.signal));
        // By the clock: what a blob gives is read beside the turns.
        const until = performance.now() + 10_000;
        while (performance.now() < until && storage.stuck === 'no' && state.end === undefined) {
          await turn();
        }
        const { stuck } = storage;
        if (stuck === 'no') {
          // There were not as many.
          expect(state.end, `${nth}`).toBeDefined();
          await within(5000, db.close());
          break;
        }
        abort.abort('mine');
        if (stuck === 'commit') {
          // Its outcome decides.
          for (let at = 0; at < TURNS; at++) await turn();
          storage.release();
          await within(
            5000,
            (async () => {
              while (state.end === undefined) await turn();
            })(),
          );
        } else {
          await settles(state, `at call ${nth} of storage`);
          storage.release();
        }
        const end = state.end as End;
        await within(5000, db.close());
        const again = await open('signals', { storage });
        if ('cause' in end) {
          expect(end, `at call ${nth}`).toEqual({ cause: failure('aborted', { cause: 'mine' }) });
          expect(await standing(again), `at call ${nth}`).toBe(before);
        }
        await again.close();
      }
      // All of them, but for one that is small, wait for storage.
      expect(nth).toBeGreaterThan(call.reads ?? 1);
    });
  }
});

/** Takes back what was written since. */
function holding(db: Store) {
  const [snap, draft] = [db.snapshot(), db.branches()];
  void draft;
  return {
    async undo() {
      await db.resetTo(snap);
    },
    async [Symbol.asyncDispose]() {
      snap.release();
    },
  };
}

const never = () => new Promise<never>(() => {});

describe('a signal is heard while code of the caller is pending, which never settles:', () => {
  const stream = () => new ReadableStream({ pull: never });
  const rows = () => ({ [Symbol.asyncIterator]: () => ({ next: never, return: never }) });
  async function* some() {
    yield* pairs(NEW);
    await never();
  }
  const pending: [string, (scene: Scene, signal: AbortSignal) => Promise<unknown>][] = [
    ['the function of a transaction', ({ db }, signal) => db.transaction(never, { signal })],
    [
      'that function after an edit',
      ({ db }, signal) =>
        db.transaction(
          async (tx) => {
            tx.put('k1', 1);
            await never();
          },
          { signal },
        ),
    ],
    ['onConflict', ({ db }, signal) => db.merge('draft', { signal, onConflict: never })],
    ['rows', ({ db }, signal) => db.putMany(rows(), { signal })],
    ['rows after some', ({ db }, signal) => db.putMany(some(), { signal })],
    ['a stream', ({ db }, signal) => db.putMany(stream(), { signal })],
    [
      'a stream of bytes',
      ({ db }, signal) => db.putMany(new Response(stream()), { key: '/id', signal }),
    ],
    ['keys to delete', ({ db }, signal) => db.deleteMany(rows(), { signal })],
    ['operations', ({ db }, signal) => db.applyPatch(rows(), { signal })],
    ['leaves', ({ db }, signal) => db.sumTree('hand').putMany(rows(), { signal })],
    ['leaves to delete', ({ db }, signal) => db.sumTree('hand').deleteMany(rows(), { signal })],
    [
      'the source of an import',
      ({ storage }, signal) => importStore('other', never, { storage, signal }),
    ],
    [
      'the parts of an import',
      ({ storage }, signal) => importStore('other', async () => stream(), { storage, signal }),
    ],
    [
      'the rest of an import',
      ({ storage, copy }, signal) => {
        const parts = async function* () {
          yield new Uint8Array(await copy.slice(0, copy.size / 2).arrayBuffer());
          await never();
        };
        return importStore('other', parts(), { storage, signal });
      },
    ],
  ];
  for (const [title, run] of pending) {
    it(title, async () => {
      const scene = await sceneOf();
      const { db } = scene;
      const before = await standing(db);
      for (const turns of [0, 1, 2, 5, 30]) {
        const abort = new AbortController();
        const state = watchedCall(run(scene, abort.signal));
        for (let at = 0; at < turns; at++) await turn();
        expect(state.end).toBeUndefined();
        abort.abort('mine');
        const end = await settles(state, `after ${turns} turns`);
        expect(end).toEqual({ cause: failure('aborted', { cause: 'mine' }) });
        expect(await standing(db)).toBe(before);
      }
      await db.put('k1', 'works');
      await within(5000, db.close());
    });
  }
});

it('an import that is aborted while it waits for the rest of its source lets go of storage', async () => {
  const { db, copy } = await sceneOf();
  await db.close();
  const storage = watched(memory());
  // Cut off, so that it goes on from there.
  const cut = copy.slice(0, copy.size - 100);
  await expect(importStore('rest', cut, { storage })).rejects.toEqual(failure('invalid-export'));
  const closed = storage.closed;
  const abort = new AbortController();
  let asked = 0;
  const source = (offset: number) => {
    asked += 1;
    return offset === 0 ? copy : never();
  };
  const state = watchedCall(importStore('rest', source, { storage, signal: abort.signal }));
  while (asked < 2) await turn();
  abort.abort('mine');
  expect(await settles(state, 'the rest')).toEqual({ cause: failure('aborted') });
  for (let at = 0; at < TURNS; at++) await turn();
  expect(storage.closed).toBe(closed + 1);
  expect((await importStore('rest', copy, { storage })).segmentsBefore).toBeGreaterThan(0);
});
