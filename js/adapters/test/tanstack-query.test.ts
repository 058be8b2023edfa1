/** The storage of queries in TanStack Query's persister of single queries. */
import { QueryClient } from '@tanstack/query-core';
import {
  experimental_createQueryPersister as createQueryPersister,
  type PersistedQuery,
  type StoragePersisterOptions,
} from '@tanstack/query-persist-client-core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { HedgerowError, memory, open, type Storage, type Store } from '../../hedgerow/src/index.js';
import { faulty } from '../../hedgerow/test/support/doubles/faulty-storage.js';
import { ofKind } from '../../hedgerow/test/support/error-kind.js';
import { hedgerowQueryPersistence, hedgerowQueryStorage } from '../src/tanstack-query.js';

type Options = Omit<StoragePersisterOptions<PersistedQuery>, 'storage'>;

/** A page: a client whose queries are persisted. */
function page(db: Store, options: Options = {}) {
  const persister = createQueryPersister({
    ...hedgerowQueryPersistence<PersistedQuery>(db, { prefix: 'queries/' }),
    ...options,
  });
  const client = new QueryClient({
    // Queries stay in memory until the end, however long a test takes.
    defaultOptions: {
      queries: {
        persister: persister.persisterFn,
        gcTime: Number.POSITIVE_INFINITY,
        retry: false,
      },
    },
  });
  onTestFinished(() => client.clear());
  return { persister, client };
}

const query = (key: readonly unknown[], data: unknown) => ({
  queryKey: key,
  queryFn: vi.fn(async () => data),
  staleTime: Number.POSITIVE_INFINITY,
});

const keysOf = (db: Store) => db.scan({ prefix: 'queries/' }).keys().toArray();

/** Returns the keys that a body writes. */
async function writtenBy(db: Store, body: () => Promise<unknown>): Promise<string[]> {
  const written: string[] = [];
  const stop = db.watch({}, (changes) => void written.push(...changes.map(({ key }) => key)));
  await body();
  await db.put('~', Math.random());
  await expect.poll(() => written).toContain('~');
  stop();
  return written.filter((key) => key !== '~');
}

describe('the persister', () => {
  it('keeps each query as a row, and restores it after a restart', async () => {
    const storage = memory();
    const db = await open('app', { storage });
    const first = page(db);
    const todos = query(['todos', { page: 1 }], [{ id: 1, title: 'one' }]);
    expect(await first.client.fetchQuery(todos)).toEqual([{ id: 1, title: 'one' }]);
    await first.client.fetchQuery(query(['user'], { name: 'Ada' }));
    await expect.poll(() => keysOf(db)).toHaveLength(2);
    expect(await keysOf(db)).toEqual([
      'queries/tanstack-query-["todos",{"page":1}]',
      'queries/tanstack-query-["user"]',
    ]);
    // Rows are objects, without a text of JSON inside.
    expect(await db.get('queries/tanstack-query-["user"]')).toMatchObject([
      'tanstack-query-["user"]',
      { queryKey: ['user'], state: { data: { name: 'Ada' }, status: 'success' } },
    ]);
    await db.close();

    const again = await open('app', { storage });
    const second = page(again);
    const offline = query(['todos', { page: 1 }], 'not asked');
    expect(await second.client.fetchQuery(offline)).toEqual([{ id: 1, title: 'one' }]);
    expect(offline.queryFn).not.toHaveBeenCalled();
    await again.close();
  });

  it('writes only the query that has changed', async () => {
    const db = await open('app', { storage: memory() });
    const { client, persister } = page(db);
    await client.fetchQuery(query(['a'], 1));
    await client.fetchQuery(query(['b'], 1));
    await expect.poll(() => keysOf(db)).toHaveLength(2);
    const written = await writtenBy(db, async () => {
      client.setQueryData(['b'], 2);
      await persister.persistQueryByKey(['b'], client);
    });
    expect(written).toEqual(['queries/tanstack-query-["b"]']);
    await db.close();
  });

  it('restores and removes all queries, or the queries below a key', async () => {
    const storage = memory();
    const db = await open('app', { storage });
    const { client } = page(db);
    for (const at of [1, 2, 3]) await client.fetchQuery(query(['list', at], at));
    await client.fetchQuery(query(['other'], 'x'));
    await expect.poll(() => keysOf(db)).toHaveLength(4);
    const next = page(db);
    await next.persister.restoreQueries(next.client, { queryKey: ['list'] });
    const keys = () =>
      next.client
        .getQueryCache()
        .getAll()
        .map(({ queryHash }) => queryHash);
    expect(keys()).toEqual(['["list",1]', '["list",2]', '["list",3]']);
    expect(next.client.getQueryData(['list', 2])).toBe(2);
    await next.persister.removeQueries({ queryKey: ['list', 2], exact: true });
    await next.persister.restoreQueries(next.client);
    expect(keys()).toHaveLength(4);
    expect(await keysOf(db)).toHaveLength(3);
    await next.persister.removeQueries();
    expect(await keysOf(db)).toEqual([]);
    await db.close();
  });

  it('collects old queries, and queries of another buster', async () => {
    const db = await open('app', { storage: memory() });
    const old = page(db, { buster: 'v1' });
    await old.client.fetchQuery(query(['a'], 1));
    await old.client.fetchQuery(query(['b'], 1));
    await expect.poll(() => keysOf(db)).toHaveLength(2);
    const next = page(db, { buster: 'v2' });
    const asked = query(['a'], 'new');
    expect(await next.client.fetchQuery(asked)).toBe('new');
    await expect
      .poll(async () => JSON.stringify(await db.get((await keysOf(db))[0] ?? '')))
      .toContain('"v2"');
    await next.persister.persisterGc();
    expect(await keysOf(db)).toEqual(['queries/tanstack-query-["a"]']);
    const late = page(db, { buster: 'v2', maxAge: -1 });
    await late.persister.persisterGc();
    expect(await keysOf(db)).toEqual([]);
    await db.close();
  });

  it('keeps queries whose keys are longer than keys of a store', async () => {
    const db = await open('app', { storage: memory() });
    const { client } = page(db);
    const long = (end: string) => ['🌿'.repeat(2000), end];
    await client.fetchQuery(query(long('a'), 'A'));
    await client.fetchQuery(query(long('b'), 'B'));
    await expect.poll(() => keysOf(db)).toHaveLength(2);
    const next = page(db);
    expect(await next.client.fetchQuery(query(long('a'), 'x'))).toBe('A');
    expect(await next.client.fetchQuery(query(long('b'), 'x'))).toBe('B');
    await next.persister.removeQueries({ queryKey: long('a'), exact: true });
    expect(await keysOf(db)).toHaveLength(1);
    await db.close();
  });

  it('leaves other rows of the store alone', async () => {
    const db = await open('app', { storage: memory() });
    const others = ['text', 5, null, ['a', 1], [7, 'b'], { 0: 'x' }, new Uint8Array([1, 2])];
    for (const [at, value] of others.entries()) await db.put(`tanstack-query-${at}`, value);
    const storage = hedgerowQueryStorage(db);
    expect(await storage.getItem('tanstack-query-3')).toBeUndefined();
    await storage.setItem('tanstack-query-["a"]', '{"state":{}}');
    expect(await storage.entries()).toEqual([['tanstack-query-["a"]', '{"state":{}}']]);
    const persister = createQueryPersister({ storage });
    await persister.persisterGc();
    await persister.removeQueries();
    expect(await db.count()).toBe(others.length);
    await db.close();
  });

  it('keeps texts as well, the default of the persister', async () => {
    const db = await open('app', { storage: memory() });
    const persister = createQueryPersister({ storage: hedgerowQueryStorage(db) });
    const client = new QueryClient({
      defaultOptions: { queries: { persister: persister.persisterFn } },
    });
    onTestFinished(() => client.clear());
    await client.fetchQuery(query(['a'], 1));
    await expect.poll(() => db.count()).toBe(1);
    const row = await db.get<[string, string]>('tanstack-query-["a"]');
    expect(JSON.parse(row?.[1] ?? '').state.data).toBe(1);
    await db.close();
  });

  it('keeps a query that fails later: a row has no errors', async () => {
    const db = await open('app', { storage: memory() });
    const { client, persister } = page(db);
    await client.fetchQuery(query(['a'], 'good'));
    await expect.poll(() => keysOf(db)).toHaveLength(1);
    const failing = { queryKey: ['a'], queryFn: () => Promise.reject(new Error('offline')) };
    await expect(client.fetchQuery({ ...failing, staleTime: 0 })).rejects.toThrow('offline');
    await persister.persistQueryByKey(['a'], client);
    const next = page(db);
    expect(await next.client.fetchQuery(query(['a'], 'x'))).toBe('good');
    await db.close();
  });
});

describe('failures', () => {
  const failing = async (): Promise<{ db: Store; storage: Storage & { heal(): void } }> => {
    const storage = faulty(memory());
    const db = await open('app', { storage });
    const error = new HedgerowError('quota-exceeded', 'the disk is full');
    storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error });
    return { db, storage };
  };

  it('are reported, and queries go on', async () => {
    const { db, storage } = await failing();
    const errors: unknown[] = [];
    const persister = createQueryPersister<PersistedQuery>(
      hedgerowQueryPersistence<PersistedQuery>(db, {
        onError: (cause, key) => errors.push([cause, key]),
      }),
    );
    const client = new QueryClient({
      defaultOptions: { queries: { persister: persister.persisterFn } },
    });
    onTestFinished(() => client.clear());
    expect(await client.fetchQuery(query(['a'], 1))).toBe(1);
    expect(await client.fetchQuery(query(['b'], { map: new Map([[1, 2]]) }))).toBeDefined();
    await expect.poll(() => errors.length).toBe(2);
    expect(errors).toContainEqual([
      expect.objectContaining({ code: 'quota-exceeded' }),
      'tanstack-query-["a"]',
    ]);
    expect(errors).toContainEqual([
      expect.objectContaining({ code: 'invalid-argument', detail: 'value' }),
      'tanstack-query-["b"]',
    ]);
    storage.heal();
    await db.close();
  });

  it('to read the store are reported, and queries are fetched', async () => {
    const errors: unknown[] = [];
    const closed = new HedgerowError('closed', 'the store is closed');
    const persister = createQueryPersister<PersistedQuery>(
      hedgerowQueryPersistence<PersistedQuery>(() => Promise.reject(closed), {
        onError: (cause, key) => errors.push([cause, key]),
      }),
    );
    const client = new QueryClient({
      defaultOptions: { queries: { persister: persister.persisterFn, retry: false } },
    });
    onTestFinished(() => client.clear());
    expect(await client.fetchQuery(query(['a'], 1))).toBe(1);
    // It was read, and then written.
    await expect.poll(() => errors.length).toBe(2);
    expect(errors).toEqual(errors.map(() => [closed, 'tanstack-query-["a"]']));
    await persister.removeQueries({ queryKey: ['a'] }).catch((cause) => expect(cause).toBe(closed));
  });

  it('reject without a handler', async () => {
    const { db, storage } = await failing();
    const states = hedgerowQueryStorage(db);
    await expect(states.setItem('a', 'text')).rejects.toMatchObject({ code: 'quota-exceeded' });
    storage.heal();
    expect(await states.getItem('a')).toBeUndefined();
    await db.close();
  });

  it('of arguments are typed', () => {
    const invalid = expect.objectContaining(ofKind('invalid-argument'));
    for (const given of [[5], [null], [async () => {}, { prefx: 'a' }], [async () => {}, []]]) {
      expect(() => hedgerowQueryStorage(...(given as [never])), String(given)).toThrow(invalid);
    }
    expect(() =>
      hedgerowQueryStorage(async () => ({}) as never, { prefix: 'x'.repeat(1000) }),
    ).toThrow(expect.objectContaining({ code: 'invalid-argument', detail: 'key' }));
  });
});
