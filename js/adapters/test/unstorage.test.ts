// Tests that unstorage's own tests for drivers lack; `scripts/long/foreign/unstorage.mjs` runs those.

import { createStorage, type Driver } from 'unstorage';
import { expect, test, vi } from 'vitest';
import { memory, open, type Store } from '../../hedgerow/src/index.js';
import { ofKind } from '../../hedgerow/test/support/error-kind.js';
import { SOON } from '../../hedgerow/test/support/models/store-model.js';
import { hedgerowDriver } from '../src/unstorage.js';

let made = 0;
const opened = (): Promise<Store> => open(`unstorage ${made++}`, { storage: memory() });

test('it is a driver by the types of unstorage, and opens the store late', async () => {
  let calls = 0;
  const driver: Driver = hedgerowDriver(() => {
    calls += 1;
    return opened();
  });
  const storage = createStorage({ driver });
  expect(calls).toBe(0);
  await storage.setItem('a:b', { x: 1 });
  expect(await storage.getItem('a:b')).toEqual({ x: 1 });
  expect(calls).toBe(1);
  expect(await storage.getMeta('a:b')).toEqual({});
});

test('items are texts below the prefix, and keys have colons, as unstorage makes them', async () => {
  const db = await opened();
  await db.putMany([
    ['items', 1],
    ['items0', 2],
  ]);
  const driver = hedgerowDriver(db, { prefix: 'items/' });
  const storage = createStorage({ driver });
  await storage.setItem('a/b.json', { x: 1 });
  await storage.setItem('c', 7);
  expect(await db.scan({ prefix: 'items/' }).toArray()).toEqual([
    ['items/a:b.json', '{"x":1}'],
    ['items/c', '7'],
  ]);
  expect(await storage.getKeys('a')).toEqual(['a:b.json']);
  // unstorage clears only whole mounts.
  await driver.clear('a:');
  expect(await storage.getKeys()).toEqual(['c']);
  await storage.clear();
  expect(await db.scan().keys().toArray()).toEqual(['items', 'items0']);
});

test('a row that the app has put by other means is read as it is', async () => {
  const db = await opened();
  await db.put('row', { x: 1 });
  await db.put('none', null);
  const storage = createStorage({ driver: hedgerowDriver(db) });
  expect(await storage.getItems(['row', 'none', 'missing'])).toEqual([
    { key: 'row', value: { x: 1 } },
    { key: 'none', value: null },
    { key: 'missing', value: null },
  ]);
});

test('setItems is one commit', async () => {
  const db = await opened();
  const storage = createStorage({ driver: hedgerowDriver(db) });
  const calls: string[][] = [];
  const stop = db.watch({}, (changes) => {
    calls.push(changes.map(({ key }) => key));
  });
  await storage.setItems([
    { key: 'b', value: 1 },
    { key: 'a', value: 2 },
  ]);
  await vi.waitFor(() => expect(calls).toEqual([['a', 'b']]), SOON);
  stop();
  const long = { key: 'x'.repeat(1025), value: 1 };
  await expect(storage.setItems([{ key: 'c', value: 1 }, long])).rejects.toMatchObject({
    ...ofKind('invalid-argument/key'),
  });
  expect(await storage.hasItem('c')).toBe(false);
});

test('raw items are bytes of any kind, or JSON values', async () => {
  const storage = createStorage({ driver: hedgerowDriver(await opened()) });
  const bytes = Uint8Array.of(9, 1, 2, 3, 4, 9);
  const part = new Uint16Array(bytes.buffer.slice(0, 4), 2, 1);
  for (const [value, read] of [
    [bytes, bytes],
    [bytes.buffer, bytes],
    [part, Uint8Array.of(2, 3)],
    [new Blob([bytes]), bytes],
    [{ x: [1] }, { x: [1] }],
    ['text', 'text'],
  ]) {
    await storage.setItemRaw('raw', value);
    expect(await storage.getItemRaw('raw')).toEqual(read);
  }
  await expect(storage.setItemRaw('raw', new Map())).rejects.toMatchObject({
    ...ofKind('invalid-argument/value'),
  });
  expect(await storage.getItemRaw('missing')).toBe(null);
});

test('watch reports changes by others, until it is stopped or the driver is disposed of', async () => {
  const db = await opened();
  const driver = hedgerowDriver(db, { prefix: 'items/' });
  const storage = createStorage({ driver });
  const told: string[] = [];
  const note = (event: string, key: string) => told.push(`${event} ${key}`);
  const unwatch = await storage.watch(note);
  await db.put('items/a:b', '1');
  await db.put('other', '1');
  await vi.waitFor(() => expect(told).toEqual(['update a:b']), SOON);
  await db.delete('items/a:b');
  await vi.waitFor(() => expect(told).toEqual(['update a:b', 'remove a:b']), SOON);
  await unwatch();

  const kept: string[] = [];
  const stop = await driver.watch((event, key) => kept.push(`${event} ${key}`));
  await storage.watch(note);
  await storage.dispose();
  stop();
  // Callbacks run in the order of the watches: this one is last.
  let isDone = false;
  const last = db.watch({}, () => {
    isDone = true;
  });
  await db.put('items/c', '1');
  await vi.waitFor(() => expect(isDone).toBe(true), SOON);
  last();
  expect([told.length, kept]).toEqual([2, []]);
  expect(await db.get('items/c')).toBe('1');
});

test('several mounts share a store', async () => {
  const db = await opened();
  const storage = createStorage({ driver: hedgerowDriver(db, { prefix: 'main/' }) });
  storage.mount('cache', hedgerowDriver(db, { prefix: 'cache/' }));
  await storage.setItem('a', 1);
  await storage.setItem('cache:a', 2);
  expect(await db.scan().keys().toArray()).toEqual(['cache/a', 'main/a']);
  await storage.clear('cache');
  expect(await storage.getKeys()).toEqual(['a']);
});
