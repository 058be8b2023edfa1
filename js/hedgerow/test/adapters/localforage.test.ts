// Tests that localForage's own tests lack; `scripts/foreign/localforage.mjs` runs those in a browser.

import localforage from 'localforage';
import { expect, test } from 'vitest';
import { localForageDriver } from '../../src/adapters/localforage.js';
import { memory, open, type Store } from '../../src/index.js';

let made = 0;
const opened = (): Promise<Store> => open(`localforage ${made++}`, { storage: memory() });

/** Returns an instance over a store, and a function that makes more of them. */
async function instanceOf(store: Parameters<typeof localForageDriver>[0], prefix = '') {
  const driver = `hedgerow ${made++}`;
  const own: LocalForageDriver = localForageDriver(store, { driver, prefix });
  await localforage.defineDriver(own);
  const more = (name: string, storeName: string) =>
    localforage.createInstance({ driver, name, storeName });
  return { forage: more('app', 'pairs'), more };
}

test('values of all kinds are read as they were written', async () => {
  const { forage } = await instanceOf(await opened());
  const bytes = Uint8Array.of(0, 1, 2, 253, 254, 255, 7, 8);
  const { buffer } = bytes;
  const views = [
    bytes,
    bytes.subarray(2, 6),
    new Int8Array(buffer),
    new Uint8ClampedArray(buffer),
    new Int16Array(buffer, 2, 2),
    new Uint16Array(buffer),
    new Int32Array(buffer),
    new Uint32Array(buffer, 4),
    new Float32Array([0.5, Number.NaN]),
    new Float64Array([-0, 1e300]),
    new BigInt64Array(buffer),
    new BigUint64Array(buffer),
    new DataView(buffer, 1, 3),
    buffer,
    new Uint8Array(0),
  ];
  const others = [
    null,
    '',
    '~text',
    0,
    -1.5,
    Number.NaN,
    true,
    10n ** 30n,
    [1, [2, { a: undefined }]],
    { deep: { date: new Date(7), set: new Set([1]), map: new Map([['a', bytes]]) } },
  ];
  for (const value of [...views, ...others]) {
    expect(await forage.setItem('value', value)).toBe(value);
    const read = await forage.getItem('value');
    expect(read).toEqual(value);
    expect(Object.prototype.toString.call(read)).toBe(Object.prototype.toString.call(value));
  }
  // Only the bytes that a view shows are stored.
  await forage.setItem('value', bytes.subarray(2, 6));
  expect((await forage.getItem<Uint8Array>('value'))?.buffer.byteLength).toBe(4);
});

test('blobs and files keep their type, name and time', async () => {
  const { forage } = await instanceOf(await opened());
  await forage.setItem('blob', new Blob(['hé'], { type: 'text/plain' }));
  const blob = await forage.getItem<Blob>('blob');
  expect([blob?.constructor, blob?.type, await blob?.text()]).toEqual([Blob, 'text/plain', 'hé']);
  await forage.setItem('file', new File(['x'], 'ä.txt', { type: 'text/x', lastModified: 5 }));
  const file = await forage.getItem<File>('file');
  expect([file?.name, file?.type, file?.lastModified, await file?.text()]).toEqual([
    'ä.txt',
    'text/x',
    5,
    'x',
  ]);
});

test('undefined is stored as null, and a missing item is null', async () => {
  const { forage } = await instanceOf(await opened());
  expect(await forage.setItem('a', undefined)).toBe(null);
  expect(await forage.getItem('a')).toBe(null);
  expect(await forage.getItem('b')).toBe(null);
  expect(await forage.length()).toBe(1);
});

test('a value without a stored form is refused, and the item stays', async () => {
  const { forage } = await instanceOf(await opened());
  await forage.setItem('a', 1);
  for (const value of [() => {}, /a/, { view: new Int8Array(1) }, [new Blob([])]]) {
    await expect(forage.setItem('a', value)).rejects.toMatchObject({ code: 'invalid-value' });
  }
  await expect(forage.setItem('x'.repeat(1024), 1)).rejects.toMatchObject({ code: 'invalid-key' });
  expect(await forage.getItem('a')).toBe(1);
});

test('bytes that the driver did not write are refused', async () => {
  const db = await opened();
  const { forage } = await instanceOf(db);
  const text = (head: string) => [head.length, ...new TextEncoder().encode(head)];
  for (const row of [
    [],
    [0],
    [255, 255, 1],
    [0, ...text('{}')],
    [0, ...text('["Function"]'), 1],
    [0, ...text('["Int32Array"]'), 1],
    [0, ...text('["constructor"]')],
  ]) {
    await db.put('app/pairs/a', Uint8Array.from(row));
    await expect(forage.getItem('a')).rejects.toMatchObject({ code: 'invalid-value' });
  }
});

test('each name and store has its own place, whatever the names are', async () => {
  const db = await opened();
  const { forage, more } = await instanceOf(db, 'forage/');
  const places = [
    forage,
    more('app', 'other'),
    more('app/pairs', 'x'),
    more('a', 'pp'),
    more('ä%2F', 'pairs'),
  ];
  for (const [at, place] of places.entries()) await place.setItem('key', at);
  for (const [at, place] of places.entries()) {
    expect([await place.getItem('key'), await place.keys()]).toEqual([at, ['key']]);
  }
  expect(await db.scan().keys().first()).toBe('forage/%C3%A4%252F/pairs/key');
  await forage.clear();
  expect(await db.count()).toBe(places.length - 1);
});

test('dropInstance deletes its own store, another one, or all stores of a name', async () => {
  const db = await opened();
  const { forage, more } = await instanceOf(db);
  const [other, apart] = [more('app', 'other'), more('app2', 'pairs')];
  const fill = async () => {
    for (const one of [forage, other, apart]) await one.setItem('a', 1);
  };
  const left = () => db.scan().keys().toArray();
  await fill();
  await forage.dropInstance();
  expect(await left()).toEqual(['app/other/a', 'app2/pairs/a']);
  await fill();
  await forage.dropInstance({ name: 'app2', storeName: 'pairs' });
  expect(await left()).toEqual(['app/other/a', 'app/pairs/a']);
  await fill();
  await forage.dropInstance({ name: 'app' });
  expect(await left()).toEqual(['app2/pairs/a']);
  await forage.setItem('b', 2);
  expect(await forage.getItem('b')).toBe(2);
});

test('dropInstance with only a callback drops its own store, whatever the name of the callback', async () => {
  const db = await opened();
  const { forage, more } = await instanceOf(db);
  const named = more('dropped', 'pairs');
  await forage.setItem('a', 1);
  await named.setItem('a', 1);
  await new Promise<void>((resolve) => {
    const dropped = () => resolve();
    forage.dropInstance(dropped as never);
  });
  expect(await db.scan().keys().toArray()).toEqual(['dropped/pairs/a']);
});

test('key(n) and keys follow the order of UTF-8', async () => {
  const { forage } = await instanceOf(await opened());
  const keys = ['b', 'a', '😀', '\uff5e', ''];
  for (const key of keys) await forage.setItem(key, key);
  const ordered = ['', 'a', 'b', '\uff5e', '😀'];
  expect(await forage.keys()).toEqual(ordered);
  const numbered = await Promise.all([0, 1, 2, 3, 4].map((n) => forage.key(n)));
  expect(numbered).toEqual(ordered);
  expect([await forage.key(5), await forage.key(-1)]).toEqual([null, null]);
});

test('iterate sees one commit, and ends with the first result', async () => {
  const { forage } = await instanceOf(await opened());
  for (const key of ['a', 'b', 'c']) await forage.setItem(key, key.toUpperCase());
  const seen: unknown[] = [];
  const result = await forage.iterate((value, key, number) => {
    seen.push([value, key, number]);
    forage.setItem(`${key}${key}`, 'new');
    return key === 'b' ? 'found' : undefined;
  });
  expect(result).toBe('found');
  expect(seen).toEqual([
    ['A', 'a', 1],
    ['B', 'b', 2],
  ]);
});

test('callbacks receive the result or the error', async () => {
  const { forage } = await instanceOf(await opened());
  const told = (call: (callback: (...facts: unknown[]) => void) => unknown) =>
    new Promise<unknown[]>((resolve) => {
      Promise.resolve(call((...facts) => resolve(facts))).catch(() => {});
    });
  expect(await told((callback) => forage.setItem('a', 1, callback))).toEqual([null, 1]);
  expect(await told((callback) => forage.length(callback))).toEqual([null, 1]);
  expect(await told((callback) => forage.setItem('b', () => {}, callback as never))).toEqual([
    expect.objectContaining({ code: 'invalid-value' }),
  ]);
  expect(await told((callback) => forage.iterate(() => 7, callback))).toEqual([null, 7]);
  expect(await told((callback) => forage.dropInstance(undefined as never, callback))).toEqual([
    null,
    undefined,
  ]);
});

test('localForage takes the next driver when a store does not open', async () => {
  const failing = `failing ${made++}`;
  const driver = `hedgerow ${made++}`;
  const fail = () => Promise.reject(new Error('no store'));
  await localforage.defineDriver(localForageDriver(fail, { driver: failing }));
  await localforage.defineDriver(localForageDriver(await opened(), { driver }));
  const forage = localforage.createInstance({ driver: [failing, driver], name: 'app' });
  await forage.setItem('a', 1);
  expect(forage.driver()).toBe(driver);
});
