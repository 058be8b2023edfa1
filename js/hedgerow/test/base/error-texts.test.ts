/** The message of an error says what failed and what to do about it. */
import { afterEach, expect, it, vi } from 'vitest';
import { importStore, memory, open, type Store } from '../../src/index.js';
import { type Entry, storeOf } from '../support/models/store-model.js';

const ROWS: Entry[] = [
  ['a', 1],
  ['b', { n: 1 }],
];

type Call = (db: Store) => unknown;

const cases: [title: string, call: Call, message: RegExp][] = [
  [
    'no IndexedDB',
    () => {
      vi.stubGlobal('indexedDB', undefined);
      return open('x');
    },
    /no IndexedDB.*`storage`.*memory\(\).*sqlite\(\).*@hedgerow\/sqlite/,
  ],
  [
    'an index that was not named',
    (db) => db.count({ index: 'byOwner' }),
    /^open was given no index byOwner: add it to indexes/,
  ],
  [
    'a callback that is none',
    (db) => db.watch({}, 5 as never),
    /^watch: callback must be a function/,
  ],
  [
    'a body that is none',
    (db) => db.transaction(5 as never),
    /^the body of a transaction must be a function/,
  ],
  [
    'a branch change beside a writer',
    async (db) => {
      await (await db.branches.open('draft')).close();
      const writer = db.writer();
      await db.branches.switchTo('draft').finally(() => writer.abort());
    },
    /a writer is open: close or abort it/,
  ],
  [
    'a merge of no branch',
    (db) => db.branches.merge({} as never),
    /^branches\.merge takes a branch of this store, or its name/,
  ],
  ['a source that is none', (db) => db.putMany(5 as never), /source must be an iterable, or bytes/],
  [
    'a format for rows',
    (db) => db.putMany([['k', 1]], { format: 'json' }),
    /format is for bytes only/,
  ],
  [
    'a function for the key of bytes',
    (db) => db.putMany(new Blob(['{}']), { key: () => 'k', format: 'json' } as never),
    /key must be a JSON pointer/,
  ],
  ['the main branch', (db) => db.branches.delete('main'), /main cannot be deleted: see clear\(\)/],
  ['a merge into itself', (db) => db.branches.merge('main'), /cannot be merged into itself/],
  [
    'an import into a store with rows',
    async (db) => {
      const storage = memory();
      await (await open('full', { storage })).put('k', 1);
      await importStore('full', await db.backup.export(), { storage });
    },
    /needs an empty store, and this one holds rows: destroy\(\) it, or take another name/,
  ],
  [
    'an export that is read again',
    async (db) => {
      const copy = await db.backup.export();
      for await (const _ of copy) break;
      for await (const _ of copy) break;
    },
    /read already: call db.backup.export\(\) again/,
  ],
  [
    'names of branches',
    (db) => db.backup.export({ branches: 5 as never }),
    /^backup\.export: branches must be an array/,
  ],
  [
    'a write to a snapshot',
    (db) =>
      db
        .snapshot()
        .sumTree('t')
        .put('k', { value: Uint8Array.of(1), sum: 1n } as never),
    /a snapshot cannot be written to/,
  ],
  ['a closed store', (db) => db.close().then(() => db.get('a')), /^the store test is closed/],
  [
    'a transaction that is over',
    async (db) => {
      let late: unknown;
      await db.transaction(async (tx) => {
        late = tx;
      });
      (late as { put(key: string, value: unknown): void }).put('k', 1);
    },
    /has ended: await its calls within its function/,
  ],
];

afterEach(() => vi.unstubAllGlobals());

it.each(cases)('%s', async (_, call, message) => {
  const db = await storeOf(ROWS);
  const error = await (async () => call(db))().then(
    () => new Error('nothing was refused'),
    (cause: unknown) => cause,
  );
  expect(error).toMatchObject({ name: 'HedgerowError', message: expect.stringMatching(message) });
  await db.close();
});

it('a second handle in one tab gets an error that names the compactor', async () => {
  const storage = memory();
  const first = await open('test', { storage });
  const second = await open('test', { storage });
  await first.health.compact();
  await expect(second.health.compact()).rejects.toThrow(/another open handle compacts this store/);
  expect((await second.health.stats()).compactor).toBe('other');
  await Promise.all([first.close(), second.close()]);
});

it('compact() says that Web Locks are missing, and what helps', async () => {
  // A page that did not come over https has no Web Locks.
  const { locks: _, ...storage } = { ...memory(), isShared: true };
  const db = await open('insecure', { storage });
  expect((await db.health.stats()).compactor).toBe('none');
  await expect(db.health.compact()).rejects.toThrow(
    /needs Web Locks.*https.*idb\({ exclusive: true }\)/,
  );
  await db.close();
});
