/** All calls that take a signal, the store of the calls, and a wait for their ends. */
import { expect } from 'vitest';
import { turn } from '../../src/base/slice-queue.js';
import { importStore, memory, open, type Store } from '../../src/index.js';
import { type StuckStorage, stuckable } from '../support/doubles/stuck-storage.js';

export const ROWS = Array.from({ length: 600 }, (_, at) => ({
  id: `k${at}`,
  n: at,
  text: 'x'.repeat(90),
}));
// More rows than a commit hands over in the slice that made it.
export const NEW = Array.from({ length: 600 }, (_, at) => ({
  id: `n${at}`,
  n: at,
  text: 'y'.repeat(90),
}));
export const pairs = (rows: typeof ROWS) => rows.map((row) => [row.id, row] as const);
export const ndjson = (rows: typeof ROWS) =>
  new Blob(rows.map((row) => `${JSON.stringify(row)}\n`));
export const value = new Uint8Array(3);
export const leaves = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ key: `leaf ${at}`, value, sum: 1n }));

export const INDEXES = { n: { path: '/n' } };
export const SUMS = { total: { sum: '/n' } };

export interface Scene {
  readonly db: Store;
  readonly storage: StuckStorage;
  /** The export of a store. */
  readonly copy: Blob;
}

export interface Call {
  readonly title: string;
  run(scene: Scene, signal: AbortSignal): Promise<unknown>;
  /** 0 when the call makes fewer than two storage calls, since its chunks are in memory. */
  readonly reads?: 0;
}

async function* slowly<T>(rows: readonly T[]): AsyncGenerator<T> {
  for (const [at, row] of rows.entries()) {
    if (at % 100 === 0) await turn();
    yield row;
  }
}

export const drained = async (source: AsyncIterable<unknown>) => {
  let count = 0;
  for await (const _ of source) count += 1;
  return count;
};

let imports = 0;
/** The export of a store, which is the same for all scenes. */
let exported: Blob | undefined;

export const CALLS: Call[] = [
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
      db.branches.merge('draft', { signal, onConflict: async ({ theirs }) => theirs }),
  },
  {
    title: 'commit',
    run: ({ db }, signal) =>
      db.history.commit(
        async (tx) => {
          const row = await tx.get<object>('k2');
          await turn();
          tx.put('k2', { ...row, n: (await tx.count()) + 1 });
        },
        { signal },
      ),
  },
  {
    title: 'revert',
    run: async ({ db }, signal) =>
      db.history.revert('0'.repeat(64), db.root, {
        signal,
        onConflict: async ({ theirs }) => theirs,
      }),
  },
  { title: 'insert', run: ({ db }, signal) => db.insert('n0', { n: 0 }, { signal }) },
  {
    title: 'update',
    run: ({ db }, signal) =>
      db.update<object>(
        'k3',
        async (row) => {
          await turn();
          return { ...row, n: 4 };
        },
        { signal },
      ),
  },
  { title: 'previewMerge', run: ({ db }, signal) => db.branches.preview('draft', { signal }) },
  { title: 'verify', run: ({ db }, signal) => db.health.verify({ signal }) },
  { title: 'repair', run: ({ db }, signal) => db.health.repair({ signal }) },
  {
    title: 'export',
    run: async ({ db }, signal) => drained(await db.backup.export({ signal, branches: true })),
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
  { title: 'at of an index', run: ({ db }, signal) => db.at(300, { index: 'n', signal }) },
  {
    title: 'rank of an index',
    reads: 0,
    run: ({ db }, signal) => db.rank([300, 'k300'], { index: 'n', signal }),
  },
  {
    title: 'diff',
    run: ({ db }, signal) => db.history.diff('0'.repeat(64), db.root, { signal }).toArray(),
  },
  {
    title: 'changes',
    run: ({ db }, signal) => db.history.since('0'.repeat(64), { signal }).toArray(),
  },
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

/** The number of turns of the event loop in which an aborted call must settle. */
export const TURNS = 4;

export async function sceneOf(cacheBytes?: number): Promise<Scene> {
  const storage = stuckable(memory());
  const made = await open('signals', { storage, indexes: INDEXES, advanced: { sums: SUMS } });
  await made.putMany(pairs(ROWS));
  await made.sumTree('hand').put('leaf a', { value, sum: 1n });
  const draft = await made.branches.open('draft');
  await draft.put('k1', { n: 1000 });
  await draft.putMany(pairs(NEW));
  await made.put('k1', { n: 2000 });
  await draft.close();
  exported ??= await new Response((await made.backup.export()).stream()).blob();
  const copy = exported;
  await made.close();
  const options = { storage, indexes: INDEXES, advanced: { sums: SUMS, cacheBytes, sliceMs: 1 } };
  const db = await open('signals', options);
  await db.sumTree('total').get('k1');
  // The diff loads code that is loaded on demand.
  await db.history.diff(db.root, db.root).toArray();
  return { db, storage, copy };
}

/** The result or the error of a call. */
export type End = { readonly made: unknown } | { readonly cause: unknown };

export function watchedCall(promise: Promise<unknown>) {
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

/** Waits until a call has settled. A commit in progress decides its outcome, and an engine may take its time. */
export async function settles(
  state: { end?: End },
  message: string,
  storage?: StuckStorage,
): Promise<End> {
  while (storage !== undefined && storage.committing > 0) await turn();
  for (let count = 0; count < TURNS && state.end === undefined; count++) await turn();
  expect(state.end, message).toBeDefined();
  return state.end as End;
}

/** Returns the roots of all branches. */
export const standing = async (db: Store) =>
  (await db.branches.list()).map(({ root }) => root).join(' ');
