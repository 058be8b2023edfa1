/** Closing waits for calls under way, but only for a while for code of the caller that does not answer. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { turn } from '../../src/base/slice-queue.js';
import { CLOSING_MS } from '../../src/engine/read/unfinished-changes.js';
import { memory, open, preload, type Store } from '../../src/index.js';
import { all, type Entry, expectSame, failure, within } from '../support/models/store-model.js';

const ROWS = Array.from(
  { length: 3000 },
  (_, at): Entry => [`k${String(at).padStart(4, '0')}`, at],
);
const never = () => new Promise<never>(() => {});
const value = new Uint8Array(3);

function* endless() {
  for (let at = 0; ; at++) yield [`n${at}`, at] as Entry;
}

const pending: [string, (db: Store) => Promise<unknown>][] = [
  ['the function of a transaction', (db) => db.transaction(never)],
  [
    'one that has put a row',
    (db) =>
      db.transaction(async (tx) => {
        tx.put('k0001', 'never');
        await never();
      }),
  ],
  [
    'one that waits for closing itself',
    (db) =>
      db.transaction(async (tx) => {
        tx.put('k0001', 'never');
        await db.close();
      }),
  ],
  ['onConflict', (db) => db.branches.merge('draft', { onConflict: never })],
  ['rows', (db) => db.putMany({ [Symbol.asyncIterator]: () => ({ next: never }) })],
  ['rows without end', (db) => db.putMany(endless())],
  ['a stream', (db) => db.putMany(new ReadableStream({ pull: never }))],
  [
    'a response',
    (db) => db.putMany(new Response(new ReadableStream({ pull: never })), { key: '/id' }),
  ],
  ['keys', (db) => db.deleteMany({ [Symbol.asyncIterator]: () => ({ next: never }) })],
  ['operations', (db) => db.applyPatch({ [Symbol.asyncIterator]: () => ({ next: never }) })],
  [
    'leaves',
    (db) => db.sumTree('hand').putMany({ [Symbol.asyncIterator]: () => ({ next: never }) }),
  ],
  [
    'rows that end only by closing',
    (db) =>
      db.putMany(
        (async function* () {
          yield* ROWS.map(([key]): Entry => [key, 'never']);
          await db.close();
        })(),
      ),
  ],
];

it.concurrent.each(pending)(
  'closing ends calls that wait for %s, without a write',
  async (_, run) => {
    const storage = memory();
    const db = await open('closing', { storage });
    await db.putMany(ROWS);
    const draft = await db.branches.open('draft');
    await draft.put('k0001', 'draft');
    await db.put('k0001', 'main');
    const { root } = db;
    const call = run(db).catch((cause: unknown) => cause);
    for (let at = 0; at < 20; at++) await turn();
    await within(db.close());
    expect(await within(call)).toEqual(failure('closed'));
    const again = await open('closing', { storage });
    expect(again.root).toBe(root);
    await again.close();
  },
);

// Not among the concurrent tests: they need the timer that it changes.
it('closing waits for code that ends in time, and for rows that have arrived', async () => {
  await preload();
  const { setTimeout } = globalThis;
  // The time for the code does not pass, since on a slow machine the calls may take longer.
  const later = vi
    .spyOn(globalThis, 'setTimeout')
    .mockImplementation(((run: () => void, ms: number) =>
      setTimeout(run, ms === CLOSING_MS ? 2 ** 30 : ms)) as never);
  onTestFinished(() => later.mockRestore());
  const storage = memory();
  const db = await open('closing', { storage });
  const waiting: (() => void)[] = [];
  const wait = () => new Promise<void>((go) => waiting.push(go));
  const calls = [
    db.putMany(ROWS),
    db.transaction(async (tx) => {
      const before = (await tx.get<number>('n')) ?? 0;
      await wait();
      tx.put('n', before + 1);
    }),
    db.putMany(
      (async function* () {
        await wait();
        yield ['slow', 1] as Entry;
      })(),
    ),
    db.putMany(new Map([['map', 1]])),
    db.putMany(new Blob(['{"id":"blob"}\n']), { key: '/id' }),
    db.sumTree('hand').put('a', { value, sum: 1n }),
    db.put('one', 1),
  ];
  while (waiting.length < 2) await turn();
  const closing = within(db.close());
  for (let at = 0; at < 20; at++) await turn();
  for (const go of waiting) go();
  await closing;
  await Promise.all(calls);
  const again = await open('closing', { storage });
  const more: Entry[] = [
    ['blob', { id: 'blob' }],
    ...ROWS,
    ['map', 1],
    ['n', 1],
    ['one', 1],
    ['slow', 1],
  ];
  expectSame(await all(again), more);
  expect(again.sumTree('hand').root.sum).toBe(1n);
  await again.close();
});

it.concurrent('closing a branch ends the calls that wait there, and no others', async () => {
  const db = await open('closing', { storage: memory() });
  const draft = await db.branches.open('draft');
  let go = () => {};
  const other = db.transaction(async (tx) => {
    await new Promise<void>((resolve) => {
      go = resolve;
    });
    tx.put('a', 1);
  });
  const call = draft.transaction(never).catch((cause: unknown) => cause);
  await within(draft.close());
  expect(await call).toEqual(failure('closed'));
  go();
  await other;
  expect(await db.get('a')).toBe(1);
  await db.close();
});

it.concurrent('no listener stays on a signal that outlives its calls', async () => {
  const db = await open('closing', { storage: memory() });
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  const [add, remove] = [signal.addEventListener, signal.removeEventListener];
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners.add(args[1]);
    add.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners.delete(args[1]);
    remove.apply(signal, args);
  };
  const draft = await db.branches.open('draft');
  await draft.put('a', 1);
  await db.putMany(ROWS, { signal });
  await db.putMany(ROWS.values(), { signal });
  await db.deleteMany(['k0001'], { signal });
  await db.transaction(async (tx) => tx.put('b', 1), { signal });
  await db.branches.merge('draft', { signal });
  await db.scan({ signal }).toArray();
  for await (const _ of db.scan({ signal })) break;
  await db.health.verify({ signal });
  await db.health.repair({ signal });
  for await (const _ of await db.backup.export({ signal }));
  await db.sumTree('hand').put('a', { value, sum: 1n }, { signal });
  await db.sumTree('hand').entries({ signal }).toArray();
  await turn();
  expect(listeners.size).toBe(0);
  await db.close();
});
