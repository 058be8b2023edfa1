import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type * as newest from '@tanstack/db';
import {
  type PersistedCollectionPersistence,
  persistedCollectionOptions,
} from '@tanstack/db-sqlite-persistence-core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { memory, open, type Store } from '../../hedgerow/src/index.js';
import { ofKind } from '../../hedgerow/test/support/error-kind.js';
import { SOON } from '../../hedgerow/test/support/models/store-model.js';
import { forSeeds } from '../../hedgerow/test/support/property.js';
import { rest, until } from '../../hedgerow/test/support/watching.js';
import { hedgerowPersistence } from '../src/index.js';

// No interface: rows of the persistence package have an index signature.
type Todo = {
  id: string;
  title: string;
  score: number;
  due?: Date;
};

const todo = (id: string, score = 1, more: Partial<Todo> = {}): Todo => ({
  id,
  title: `Todo ${id}`,
  score,
  ...more,
});

// The version that the persistence package brings along, whose collections it uses.
const from = createRequire(import.meta.resolve('@tanstack/db-sqlite-persistence-core'));
const path = from.resolve('@tanstack/db').replace('/cjs/index.cjs', '/esm/index.js');
const older: typeof newest = await import(pathToFileURL(path).href);
const { BTreeIndex, createCollection, createLiveQueryCollection, IR } = older;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function opened(storage = { ...memory(), isShared: true }): Promise<Store> {
  const db = await open('persisted', { storage });
  closing.push(() => db.close());
  return db;
}

/** A collection without another source of rows. */
function local(db: Store, id = 'todos', more: object = {}) {
  const persistence = hedgerowPersistence(db);
  const options = { id, getKey: (row: Todo) => row.id, persistence, ...more };
  const made = createCollection(
    persistedCollectionOptions<Todo, string>(options as never) as never,
  ) as unknown as newest.Collection<Todo, string>;
  closing.push(() => made.cleanup());
  return made;
}

const ready = (one: { isPersisted: { promise: Promise<unknown> } }) => one.isPersisted.promise;
const ids = (rows: readonly { key: unknown }[]) => rows.map(({ key }) => key);

let seq = 0;
const tx = (rows: readonly Todo[], more: object = {}) => {
  seq += 1;
  const mutations = rows.map((value) => ({ type: 'insert' as const, key: value.id, value }));
  return { txId: `tx-${seq}`, term: 1, seq, rowVersion: seq, mutations, ...more };
};
afterEach(() => {
  seq = 0;
});

test('its types equal the types of the persistence package', async () => {
  const persistence: PersistedCollectionPersistence = hedgerowPersistence(await opened());
  expect(persistence.adapter).toBeDefined();
});

test('rows of a collection are there after a restart, with dates and bigints', async () => {
  const storage = { ...memory(), isShared: true };
  const db = await opened(storage);
  const todos = local(db);
  await todos.preload();
  const due = new Date('2026-08-01T12:00:00Z');
  await ready(todos.insert(todo('a', 1, { due })));
  await ready(todos.insert(todo('b')));
  await ready(todos.update('b', (draft) => void Object.assign(draft, { score: 5 })));
  await todos.cleanup();
  await db.close();

  const again = local(await opened(storage));
  await again.preload();
  expect(again.get('a')).toMatchObject({ id: 'a', due });
  expect(again.get('b')?.score).toBe(5);
  await ready(again.delete('a'));
  expect(again.size).toBe(1);
});

test('a collection that a server feeds shows its rows without the server, and goes on from there', async () => {
  const storage = { ...memory(), isShared: true };
  const serve = (db: Store, rows: readonly Todo[] | undefined, seen: unknown[] = []) =>
    local(db, 'served', {
      sync: {
        sync: ({ begin, write, commit, markReady, metadata }: never) => {
          const api = metadata as newest.SyncMetadataApi<string>;
          seen.push(api.collection.get('offset'));
          // Offline: no answer comes, and it is not ready by itself.
          if (rows === undefined) return (markReady as () => void)();
          (begin as () => void)();
          for (const value of rows) (write as (told: object) => void)({ type: 'insert', value });
          api.collection.set('offset', rows.length);
          (commit as () => void)();
          (markReady as () => void)();
        },
      },
    });
  const db = await opened(storage);
  const online = serve(db, [todo('a'), todo('b')]);
  await online.preload();
  const { adapter } = hedgerowPersistence(db);
  await vi.waitFor(async () => expect(await adapter.scanRows('served')).toHaveLength(2), SOON);
  await online.cleanup();
  await db.close();

  const seen: unknown[] = [];
  const offline = serve(await opened(storage), undefined, seen);
  await offline.preload();
  expect([...offline.keys()].sort()).toEqual(['a', 'b']);
  expect(seen).toEqual([2]);
});

test('tabs see the writes of others, and so do live queries', async () => {
  const storage = { ...memory(), isShared: true };
  const [one, other] = [local(await opened(storage)), local(await opened(storage))];
  await Promise.all([one.preload(), other.preload()]);
  const high = createLiveQueryCollection((q) =>
    q.from({ todo: other }).where(({ todo }) => older.eq(todo.score, 7)),
  );
  await high.preload();
  await ready(one.insert(todo('a', 7)));
  await ready(one.insert(todo('b', 1)));
  await until(() => other.size === 2);
  expect(high.size).toBe(1);
  await Promise.all([
    ready(other.update('a', (draft) => void Object.assign(draft, { score: 8 }))),
    ready(one.insert(todo('c', 7))),
  ]);
  await until(() => one.get('a')?.score === 8 && other.has('c'));
  expect([...(high.keys() as Iterable<string>)]).toEqual(['c']);
  // More than a message carries.
  await ready(one.insert(Array.from({ length: 300 }, (_, at) => todo(`m${at}`))));
  await until(() => other.size === 303);
  await ready(other.delete('c'));
  await until(() => !one.has('c'));
  await high.cleanup();
});

test('collections of one store keep apart, whatever their names', async () => {
  const { adapter } = hedgerowPersistence(await opened());
  const names = ['a', 'a/', 'a/r', '%', '"; DROP TABLE x; --', '', 'ä\u{1f600}'];
  for (const [at, name] of names.entries())
    await adapter.applyCommittedTx(name, tx([todo(`${at}`)]));
  for (const [at, name] of names.entries()) {
    expect(ids(await adapter.loadSubset(name, {}))).toEqual([`${at}`]);
  }
  await expect(adapter.loadSubset('\ud800', {})).rejects.toMatchObject({
    ...ofKind('invalid-argument'),
  });
});

test('an index is made of the rows, followed, used, and removed', async () => {
  const db = await opened();
  const { adapter } = hedgerowPersistence(db);
  await adapter.applyCommittedTx(
    'todos',
    tx(Array.from({ length: 2_000 }, (_, at) => todo(`${at}`, at))),
  );
  const expressionSql = [JSON.stringify({ type: 'ref', path: ['score'] })];
  await adapter.ensureIndex('todos', 'by score', { expressionSql });
  await adapter.ensureIndex('todos', 'by score', { expressionSql });
  await adapter.applyCommittedTx('todos', tx([todo('5', 1_000_000), todo('new', 4.5)]));

  const snapshot = db.snapshot();
  const reads = Object.getPrototypeOf(Object.getPrototypeOf(snapshot)) as Pick<Store, 'getMany'>;
  snapshot.close();
  const getMany = vi.spyOn(reads, 'getMany');
  const where = new IR.Func('lt', [new IR.PropRef(['score']), new IR.Value(6)]);
  const found = await adapter.loadSubset('todos', { where: where as never });
  expect(ids(found)).toEqual(['0', '1', '2', '3', '4', 'new']);
  const read = getMany.mock.calls.reduce((sum, [keys]) => sum + [...keys].length, 0);
  expect(read).toBe(6);
  const orderBy = [
    {
      expression: new IR.PropRef(['score']),
      compareOptions: { direction: 'desc' as const, nulls: 'first' as const },
    },
  ];
  getMany.mockClear();
  expect(ids(await adapter.loadSubset('todos', { orderBy, limit: 2 }))).toEqual(['5', '1999']);
  getMany.mockRestore();

  await adapter.markIndexRemoved('todos', 'by score');
  expect(await db.count({ prefix: 'tanstack-db/todos/i/' })).toBe(0);
  expect(ids(await adapter.loadSubset('todos', { orderBy, limit: 2 }))).toEqual(['5', '1999']);
  await expect(
    adapter.ensureIndex('todos', 'sql', { expressionSql: ['title; DROP TABLE x'] }),
  ).rejects.toMatchObject(ofKind('invalid-argument'));
});

test('a repeated transaction is left out, and two tabs that take one place both count', async () => {
  const { adapter } = hedgerowPersistence(await opened());
  const first = tx([todo('a')]);
  await adapter.applyCommittedTx('todos', first);
  await adapter.applyCommittedTx('todos', { ...first, txId: 'again' });
  const position = { latestTerm: 1, latestSeq: 1, latestRowVersion: 1 };
  expect(await adapter.getStreamPosition('todos')).toEqual(position);
  await adapter.applyCommittedTx('todos', {
    ...first,
    txId: 'other',
    mutations: tx([todo('b')]).mutations,
  });
  expect(await adapter.getStreamPosition('todos')).toMatchObject({ latestSeq: 2 });
  expect(ids(await adapter.loadSubset('todos', {}))).toEqual(['a', 'b']);
});

test('the log keeps so many transactions; a tab that has missed more reads all rows again', async () => {
  const { adapter } = hedgerowPersistence(await opened(), { keptTransactions: 3 });
  for (const id of ['a', 'b', 'c', 'd', 'e'])
    await adapter.applyCommittedTx('todos', tx([todo(id)]));
  expect(await adapter.pullSince('todos', 1)).toEqual({
    latestRowVersion: 5,
    requiresFullReload: true,
  });
  expect(await adapter.pullSince('todos', 3)).toMatchObject({
    requiresFullReload: false,
    changedKeys: ['d', 'e'],
  });
});

describe('rows of another version', () => {
  const versioned = (db: Store, mode: 'sync-present' | 'sync-absent', schemaVersion: number) =>
    hedgerowPersistence(db).resolvePersistenceForCollection({
      collectionId: 'todos',
      mode,
      schemaVersion,
    }).adapter;

  test('are dropped if they come again from elsewhere, and other tabs hear of it', async () => {
    const storage = { ...memory(), isShared: true };
    const [db, other] = [await opened(storage), await opened(storage)];
    const old = versioned(db, 'sync-present', 1);
    await old.applyCommittedTx('todos', tx([todo('a')]));
    const told: unknown[] = [];
    const stop = hedgerowPersistence(db).coordinator.subscribe('todos', ({ payload }) =>
      told.push(payload),
    );
    const now = versioned(other, 'sync-present', 2);
    await until(() => other.root === db.root);
    expect(await now.loadSubset('todos', {})).toEqual([]);
    await until(() => told.length > 0);
    expect(told).toEqual([{ type: 'collection:reset', schemaVersion: 2, resetEpoch: 1 }]);
    stop();
    // The old tab writes no rows of the old form among the new ones.
    await expect(old.applyCommittedTx('todos', tx([todo('b')]))).rejects.toMatchObject({
      code: 'newer-version',
      detail: 'schema',
    });
  });

  test('are dropped if an older tab writes them later', async () => {
    const storage = { ...memory(), isShared: true };
    const [db, other] = [await opened(storage), await opened(storage)];
    const begin = async () => {
      await db.clear();
      await until(() => other.root === db.root);
      const now = versioned(other, 'sync-present', 2);
      expect(await now.loadSubset('todos', {})).toEqual([]);
      await versioned(db, 'sync-present', 1).applyCommittedTx('todos', tx([todo('old')]));
      await until(() => other.root === db.root);
      return now;
    };
    const none = { latestTerm: 0, latestSeq: 0, latestRowVersion: 0 };
    expect(await (await begin()).loadSubset('todos', {})).toEqual([]);
    expect(await (await begin()).scanRows('todos')).toEqual([]);
    expect(await (await begin()).getStreamPosition('todos')).toEqual(none);
    expect(await (await begin()).pullSince('todos', 0)).toMatchObject({ latestRowVersion: 0 });
    const expressionSql = [JSON.stringify({ type: 'ref', path: ['score'] })];
    await (await begin()).ensureIndex('todos', 'by score', { expressionSql });
    await (await begin()).markIndexRemoved('todos', 'by score');
    const now = await begin();
    await now.applyCommittedTx('todos', tx([todo('new')]));
    expect(await now.loadSubset('todos', {})).toMatchObject([{ key: 'new' }]);
  });

  test('are an error if no other place has them', async () => {
    const db = await opened();
    await versioned(db, 'sync-absent', 2).applyCommittedTx('todos', tx([todo('a')]));
    await expect(versioned(db, 'sync-absent', 3).loadSubset('todos', {})).rejects.toMatchObject({
      ...ofKind('invalid-argument'),
      message: expect.stringContaining('version 2, and this app has 3'),
    });
    await expect(versioned(db, 'sync-absent', 1).loadSubset('todos', {})).rejects.toMatchObject({
      code: 'newer-version',
      detail: 'schema',
    });
    expect(await versioned(db, 'sync-absent', 2).loadSubset('todos', {})).toHaveLength(1);
  });
});

test('a value that cannot be stored refuses the whole transaction', async () => {
  const { adapter } = hedgerowPersistence(await opened());
  const bad = todo('b', 1, { due: new Date(Number.NaN) });
  await expect(adapter.applyCommittedTx('todos', tx([todo('a'), bad]))).rejects.toMatchObject({
    ...ofKind('invalid-argument/value'),
  });
  expect(await adapter.loadSubset('todos', {})).toEqual([]);
});

test('arguments are checked', async () => {
  const db = await opened();
  const refused = (...given: unknown[]) =>
    expect(() => hedgerowPersistence(...(given as [Store]))).toThrowError(
      expect.objectContaining({ code: expect.stringMatching(/^invalid-argument$/) }),
    );
  refused(undefined);
  refused({});
  refused(db, { prefix: 1 });
  refused(db, { schemaMismatch: 'drop' });
  refused(db, { keptTransactions: 0 });
  refused(db, { more: 1 });
});

test('an on-demand collection reads only the requested rows, by its indexes', async () => {
  const db = await opened();
  const todos = local(db, 'many', {
    syncMode: 'on-demand',
    autoIndex: 'eager',
    defaultIndexType: BTreeIndex,
  });
  const { adapter } = hedgerowPersistence(db);
  await adapter.applyCommittedTx(
    'many',
    tx(Array.from({ length: 500 }, (_, at) => todo(`${at}`, at))),
  );
  const some = createLiveQueryCollection((q) =>
    q.from({ todo: todos }).where(({ todo }) => older.gt(todo.score, 495)),
  );
  await some.preload();
  expect(some.size).toBe(4);
  expect(todos.size).toBe(4);
  await some.cleanup();
});

test('tabs that write at once end with the same rows', async () => {
  await forSeeds(15, async (pick, _, begin) => {
    const storage = { ...memory(), isShared: true };
    const dbs = [await opened(storage), await opened(storage)];
    const tabs = dbs.map((db) => local(db));
    await Promise.all(tabs.map((tab) => tab.preload()));
    for (let step = 0; step < 8; step++) {
      const writes: Promise<unknown>[] = [];
      for (const tab of tabs) {
        for (let at = pick.below(3); at > 0; at--) {
          const id = `${pick.below(6)}`;
          const score = pick.below(100);
          const kind = pick.next() < 0.3 ? 'delete' : 'put';
          begin(`${tabs.indexOf(tab)} ${kind} ${id} ${score}`);
          const change = (draft: Todo) => void Object.assign(draft, { score });
          if (!tab.has(id)) writes.push(ready(tab.insert(todo(id, score))));
          else writes.push(ready(kind === 'put' ? tab.update(id, change) : tab.delete(id)));
        }
        if (pick.next() < 0.5) await rest(1);
      }
      await Promise.all(writes);
    }
    const { adapter } = hedgerowPersistence(dbs[0] as Store);
    const stored = (await adapter.scanRows('todos')).map(({ value }) => value);
    const shown = (tab: (typeof tabs)[0]) =>
      [...tab.keys()].sort().map((id) => ({ ...plain(tab.get(id) as Todo) }));
    for (const tab of tabs) {
      await until(() => isDeepStrictEqual(shown(tab), stored)).catch(() => {});
      expect(shown(tab)).toEqual(stored);
    }
  });
});

/** Returns a row without the members that TanStack DB adds. */
function plain(row: Todo): Todo {
  const { id, title, score } = row;
  return { id, title, score };
}
