/** `close` waits for writes, except writes of callers without an end. */
import { describe, expect, it, vi } from 'vitest';
import { CLOSING_MS } from '../../../src/engine/read/unfinished-changes.js';
import { memory, open, type Store } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { type Entry, failure, within } from '../../support/models/store-model.js';

const tick = (ms = 0) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const rows = (count: number) => Array.from({ length: count }, (_, at): Entry => [`k${at}`, { at }]);

/** Yields rows now and then, without end. */
async function* endless(onReturn = () => {}): AsyncGenerator<Entry> {
  try {
    for (let at = 0; ; at++) {
      yield [`k${at}`, at];
      await tick(1);
    }
  } finally {
    onReturn();
  }
}

function* endlessAtOnce(): Generator<Entry> {
  for (let at = 0; ; at++) yield [`k${at}`, at];
}

const lines = () =>
  new ReadableStream<Uint8Array>({
    async pull(controller) {
      await tick(1);
      controller.enqueue(new TextEncoder().encode('{"id":"a"}\n'));
    },
  });

const leaf = async function* () {
  for await (const [key] of endless()) yield { key, value: Uint8Array.of(1), sum: 1n };
};

const never = new Promise<never>(() => {});

/** Changes that never end by themselves. */
const ENDLESS: Record<string, (db: Store) => Promise<unknown>> = {
  'putMany of an async generator': (db) => db.putMany(endless()),
  'putMany of a generator': (db) => db.putMany(endlessAtOnce()),
  'putMany of a source whose first row never comes': (db) =>
    db.putMany({ [Symbol.asyncIterator]: () => ({ next: () => never }) }),
  'putMany of a stream': (db) => db.putMany(lines(), { key: '/id' }),
  'putMany of a response': (db) => db.putMany(new Response(lines()), { key: '/id' }),
  'putMany with a signal of its own': (db) =>
    db.putMany(endless(), { signal: new AbortController().signal }),
  'applyPatch of operations': (db) =>
    db.applyPatch(
      (async function* () {
        for await (const [key] of endless()) yield { op: 'delete', key } as const;
      })(),
    ),
  'deleteMany of keys': (db) =>
    db.deleteMany(
      (async function* () {
        for await (const [key] of endless()) yield key;
      })(),
    ),
  'a sum tree': (db) => db.sumTree('t').putMany(leaf()),
  'a transaction that waits': (db) => db.transaction(() => never),
  'a transaction with edits and a signal': (db) =>
    db.transaction(
      async (tx) => {
        tx.put('x', 1);
        await never;
      },
      { signal: new AbortController().signal },
    ),
  'a transaction that waits for close': (db) => db.transaction(() => db.close()),
  'a source that waits for close': (db) =>
    db.putMany(
      (async function* (): AsyncGenerator<Entry> {
        yield ['x', 1];
        await db.close();
        yield ['y', 1];
      })(),
    ),
};

describe.each(Object.entries(ENDLESS))('%s', (_, begin) => {
  it('ends with close, which settles; no row of it is written', async () => {
    const storage = memory();
    const db = await open('test', { storage });
    await db.put('before', 1);
    const { root } = db;
    const change = begin(db);
    const refused = expect(change).rejects.toEqual(failure('closed'));
    await tick(20);
    await within(db.close());
    await refused;
    const again = await open('test', { storage });
    expect(again.root).toBe(root);
    await again.close();
  });
});

it('close returns the iterator of the source', async () => {
  const db = await open('test', { storage: memory() });
  const returned = vi.fn();
  const loading = expect(db.putMany(endless(returned))).rejects.toEqual(failure('closed'));
  await tick(20);
  await db.close();
  await loading;
  await tick(10);
  expect(returned).toHaveBeenCalledOnce();
});

it('a change that ends by itself is committed before close settles', async () => {
  // On a busy machine these changes may take longer than the time that closing gives them.
  const { setTimeout: start } = globalThis;
  vi.stubGlobal('setTimeout', (body: () => void, ms: number) =>
    start(body, ms === CLOSING_MS ? 60_000 : ms),
  );
  const storage = watched(memory());
  const db = await open('test', { storage });
  // Slow enough that no change is done when the store closes.
  storage.hooks.write = () => tick(50);
  const some = async function* () {
    for (const row of rows(20)) {
      yield row;
      await tick(5);
    }
  };
  const changes = [
    db.putMany(rows(3000).map(([key, value]): Entry => [`a${key}`, value])),
    db.putMany(some()),
    db.putMany(new Blob([JSON.stringify({ id: 'blob' })]), { key: '/id' }),
    db.transaction(async (tx) => {
      await tick(30);
      tx.put('tx', 1);
    }),
    db.put('single', 1),
    db.sumTree('t').put('k', { value: Uint8Array.of(1), sum: 5n }),
  ];
  await db.close();
  await Promise.all(changes);
  vi.unstubAllGlobals();
  delete storage.hooks.write;
  const again = await open('test', { storage });
  expect(await again.count()).toBe(3000 + 20 + 3);
  expect(again.sumTree('t').root.sum).toBe(5n);
});

it('complete rows are committed, however long that takes', async () => {
  const storage = watched(memory());
  const db = await open('test', { storage });
  storage.hooks.write = () => tick(1500);
  const changes = [
    db.putMany([['array', 1]]),
    db.putMany(new Map([['map', 1]])),
    db.deleteMany({ prefix: 'none' }),
    db.applyPatch([{ op: 'put', key: 'patch', value: 1 }]),
  ];
  await db.close();
  await Promise.all(changes);
  delete storage.hooks.write;
  const again = await open('test', { storage });
  expect(await again.scan().keys().toArray()).toEqual(['array', 'map', 'patch']);
});
