// Tests that Keyv's own suite for storage adapters lacks; `scripts/long/foreign/keyv.mjs` runs that suite.

import Keyv, { type KeyvStoreAdapter } from 'keyv';
import { afterEach, expect, test, vi } from 'vitest';
import { memory, open, type Store } from '../../hedgerow/src/index.js';
import { faulty } from '../../hedgerow/test/support/doubles/faulty-storage.js';
import { kindOf, ofKind } from '../../hedgerow/test/support/error-kind.js';
import { HedgerowKeyv } from '../src/keyv.js';

let made = 0;
const opened = (): Promise<Store> => open(`keyv ${made++}`, { storage: memory() });

afterEach(() => {
  vi.useRealTimers();
});

/** Replaces only the clock: the store needs its timers. */
const setTime = (ms: number) => vi.useFakeTimers({ now: ms, toFake: ['Date'] });

test('it is an adapter by the types of Keyv', async () => {
  const adapter: KeyvStoreAdapter = new HedgerowKeyv(opened);
  const keyv = new Keyv(adapter);
  expect(await keyv.set('a', { x: new Date(0) })).toBe(true);
  expect(await keyv.get('a')).toEqual({ x: '1970-01-01T00:00:00.000Z' });
  expect(typeof keyv.iterator).toBe('function');
});

test('rows have the key of Keyv below the prefix, the text of Keyv, and the expiry time', async () => {
  setTime(1000);
  const db = await opened();
  const keyv = new Keyv({ store: new HedgerowKeyv(db, { prefix: 'cache/' }), namespace: 'users' });
  await keyv.set('ada', 1, 500);
  await keyv.set('bob', 2);
  expect(await db.scan().toArray()).toEqual([
    ['cache/users:ada', { value: '{"value":1,"expires":1500}', expires: 1500 }],
    ['cache/users:bob', { value: '{"value":2}' }],
  ]);
});

test('an expired row is not read, and deleteExpired deletes it', async () => {
  setTime(1000);
  const db = await opened();
  const adapter = new HedgerowKeyv(db, { prefix: 'cache/' });
  await db.put('other', { expires: 1 });
  await adapter.set('a', 'x', 500);
  await adapter.setMany([
    { key: 'b', value: 'y', ttl: 600 },
    { key: 'c', value: 'z' },
    { key: 'd', value: '', ttl: 0 },
  ]);
  setTime(1499);
  expect(await adapter.getMany(['a', 'b', 'c', 'd'])).toEqual(['x', 'y', 'z', '']);
  expect(await adapter.deleteExpired()).toBe(0);
  setTime(1500);
  expect(await adapter.get('a')).toBe(undefined);
  expect(await adapter.getMany(['a', 'b', 'c', 'd'])).toEqual([undefined, 'y', 'z', '']);
  expect(await adapter.hasMany(['a', 'b', 'no'])).toEqual([false, true, false]);
  const found: unknown[] = [];
  for await (const row of adapter.iterator()) found.push(row);
  expect(found).toEqual([
    ['b', 'y'],
    ['c', 'z'],
    ['d', ''],
  ]);
  setTime(1600);
  expect(await adapter.deleteExpired()).toBe(2);
  expect(await db.scan().keys().toArray()).toEqual(['cache/c', 'cache/d', 'other']);
});

test('setMany is one commit, and returns a result for each row', async () => {
  const keyv = new Keyv({ store: new HedgerowKeyv(await opened()) });
  const entries = [
    { key: 'a', value: 1 },
    { key: 'b', value: 2 },
  ];
  expect(await keyv.setMany(entries)).toEqual([true, true]);
  expect(await keyv.getMany(['a', 'no', 'b'])).toEqual([1, undefined, 2]);
  keyv.on('error', () => {});
  const long = { key: 'x'.repeat(1025), value: 3 };
  expect(await keyv.setMany([{ key: 'c', value: 3 }, long])).toEqual([false, false]);
  expect(await keyv.has('c')).toBe(false);
});

test('deletions return whether there was a row', async () => {
  const keyv = new Keyv({ store: new HedgerowKeyv(await opened()) });
  await keyv.set('a', 1);
  await keyv.set('b', 1);
  expect(await keyv.delete('no')).toBe(false);
  expect(await keyv.delete(['no', 'never'])).toBe(false);
  expect(await keyv.delete(['a', 'no'])).toBe(true);
  expect(await keyv.hasMany(['a', 'b'])).toEqual([false, true]);
});

test('a row set after a call of delete stays, and the delete returns true', async () => {
  const db = await opened();
  const adapter = new HedgerowKeyv(db);
  await adapter.set('a', 1);
  await adapter.set('b', 1);
  const calls = [
    adapter.delete('a'),
    adapter.set('a', 2),
    adapter.deleteMany(['a', 'b']),
    adapter.set('b', 3),
  ];
  expect(await Promise.all(calls)).toEqual([true, true, true, true]);
  expect(await db.scan().keys().toArray()).toEqual(['b']);
  expect(await adapter.get('b')).toBe(3);
});

test('deletions of one turn share a commit', async () => {
  const storage = faulty(memory());
  const db = await open('app', { storage });
  const keyv = new Keyv({ store: new HedgerowKeyv(db) });
  const keys = Array.from({ length: 50 }, (_, at) => `${at}`);
  await keyv.setMany(keys.map((key) => ({ key, value: 1 })));
  const before = storage.calls('write');
  expect(await Promise.all(keys.map((key) => keyv.delete(key)))).toEqual(keys.map(() => true));
  expect(storage.calls('write') - before).toBe(1);
});

test('clear keeps other prefixes and namespaces, also ones that begin alike', async () => {
  const db = await opened();
  const of = (namespace: string, prefix = '') =>
    new Keyv({ store: new HedgerowKeyv(db, { prefix }), namespace });
  const [users, usersToo, cached] = [of('users'), of('users2'), of('users', 'cache/')];
  for (const keyv of [users, usersToo, cached]) await keyv.set('a', 1);
  await users.clear();
  expect(await db.scan().keys().toArray()).toEqual(['cache/users:a', 'users2:a']);
});

test('clear without a namespace deletes all rows below the prefix', async () => {
  const db = await opened();
  await db.put('other', 1);
  const adapter = new HedgerowKeyv(db, { prefix: 'cache/' });
  await adapter.set('a', 1);
  await adapter.clear();
  expect(await db.scan().keys().toArray()).toEqual(['other']);
});

test('without serialisation values are rows of the store, and values that JSON would change are refused', async () => {
  const db = await opened();
  const keyv = new Keyv({
    store: new HedgerowKeyv(db),
    namespace: '',
    serialize: undefined,
    deserialize: undefined,
    throwOnErrors: true,
  } as never);
  keyv.on('error', () => {});
  await keyv.set('a', { x: 1 });
  expect(await keyv.get('a')).toEqual({ x: 1 });
  expect(await db.get('a')).toEqual({ value: { value: { x: 1 } } });
  await expect(keyv.set('b', { x: Number.NaN })).rejects.toMatchObject({
    ...ofKind('invalid-argument/value'),
  });
});

test('a closed store emits an error event instead of a missing value', async () => {
  const db = await opened();
  const keyv = new Keyv({ store: new HedgerowKeyv(db) });
  const codes: string[] = [];
  keyv.on('error', (cause: { code: string }) => codes.push(kindOf(cause)));
  await db.close();
  expect(await keyv.get('a')).toBe(undefined);
  expect(await keyv.set('a', 1)).toBe(false);
  expect(codes).toEqual(['closed', 'closed']);
});

test('disconnect leaves the store open', async () => {
  const db = await opened();
  const keyv = new Keyv({ store: new HedgerowKeyv(db) });
  await keyv.set('a', 1);
  await keyv.disconnect();
  expect(await keyv.get('a')).toBe(1);
});
