/** Imports of keys and values of all kinds, as other libraries keep them. */
import 'fake-indexeddb/auto';
import { Dexie } from 'dexie';
import * as keyval from 'idb-keyval';
import localforage from 'localforage';
import { beforeEach, expect, test } from 'vitest';
import { memory, open, rowType, StoredFile, table } from '../../hedgerow/src/index.js';
import { decodeKey } from '../../hedgerow/src/store/keys/index.js';
import { kindOf, ofKind } from '../../hedgerow/test/support/error-kind.js';
import { sizeOf, withFiles } from '../src/foreign-values.js';
import {
  fromDexie,
  fromEntries,
  fromIdbKeyval,
  fromIndexedDB,
  fromLocalForage,
  importFrom,
} from '../src/index.js';
import { type Issue, issueOf, nextName, openIssues } from './import-from-old-app.js';

let name = '';
beforeEach(() => {
  name = nextName();
});

test('keys of all kinds are mapped into a prefix of a store, and back', async () => {
  const keys: IDBValidKey[] = [
    ...['plain', 'ä/ö', ''],
    ...[0, -1.5, 1e300, 42],
    ...[new Date(1), new Date(1754000000000)],
    ...[new Uint8Array([1, 255]).buffer, new Uint8Array([1, 255, 0]).buffer],
    ...[
      ['a', 1],
      ['a', new Date(5)],
      [new Uint8Array([7]).buffer, 'b'],
    ],
  ];
  const old = keyval.createStore(name, 'keyval');
  await keyval.setMany(
    keys.map((key, at) => [key, { at }]),
    old,
  );
  const db = await open('app', { storage: memory() });
  const source = fromIdbKeyval<{ at: number }>({ database: name });
  const result = await importFrom(source, { db, prefix: 'old/' });
  expect(result).toMatchObject({ rows: keys.length, verified: true, refused: 0 });
  const found = new Map<number, string>();
  for await (const [key, value] of db.scan<{ at: number }>({ prefix: 'old/' })) {
    found.set(value.at, key.slice('old/'.length));
  }
  const text = (at: number) => found.get(at) ?? '';
  expect([text(0), text(1), text(2)]).toEqual(['plain', 'ä/ö', '']);
  expect(keys.slice(3, 7).map((_, at) => decodeKey(text(at + 3)))).toEqual([
    [0],
    [-1.5],
    [1e300],
    [42],
  ]);
  expect(decodeKey(text(8))).toEqual([1754000000000]);
  expect([decodeKey(text(9)), decodeKey(text(10))]).toEqual([['01ff'], ['01ff00']]);
  expect([11, 12, 13].map((at) => decodeKey(text(at)))).toEqual([
    ['a', 1],
    ['a', 5],
    ['07', 'b'],
  ]);
});

test('an error names the keys that cannot be mapped', async () => {
  const old = keyval.createStore(name, 'keyval');
  const db = await open('app', { storage: memory() });
  const source = fromIdbKeyval({ database: name });
  const cases: [IDBValidKey, string][] = [
    [Number.POSITIVE_INFINITY, 'record Infinity: part 0 of a key is Infinity'],
    [['a', ['b']], 'record ["a",["b"]]: no key is made of a list within a list'],
    [[[]], 'record [[]]: no key is made of a list within a list'],
    ['\ud800', 'record "\\ud800": '],
    ['x'.repeat(1025), `record "${'x'.repeat(1025)}": the key is longer than 1024 bytes`],
  ];
  for (const [key, message] of cases) {
    await keyval.clear(old);
    await keyval.set('good', 1, old);
    await keyval.set(key, 1, old);
    const error = await importFrom(source, { db, prefix: '' }).catch((cause) => cause);
    expect([kindOf(error), error.message]).toEqual([
      'invalid-argument/key',
      expect.stringContaining(message),
    ]);
    expect(await db.count()).toBe(0);
    const left = await importFrom(source, { db, prefix: '' }, { skipFailed: true });
    expect(left).toMatchObject({ rows: 1, refused: 1, verified: true });
    expect(left.failed[0]).toMatchObject({ code: 'invalid-argument', detail: 'key' });
    await db.branches.delete(left.branch);
    await db.clear();
  }
});

test('an error names one of two records with the same key, and an own key resolves that', async () => {
  const old = keyval.createStore(name, 'keyval');
  await keyval.setMany(
    [
      [5, 'number'],
      [new Date(5), 'date'],
      ['x', 'other'],
    ],
    old,
  );
  const db = await open('app', { storage: memory() });
  const source = fromIdbKeyval<string>({ database: name });
  for (const verify of [true, false]) {
    const error = await importFrom(source, { db, prefix: 'p/' }, { verify }).catch((one) => one);
    expect([kindOf(error), error.message]).toEqual([
      'invalid-argument/key',
      expect.stringMatching(/record 1970-01-01T00:00:00.005Z: another record has the key .* too/),
    ]);
    expect(await db.count()).toBe(0);
  }
  const map = (value: string, key: IDBValidKey) => (key instanceof Date ? undefined : value);
  const result = await importFrom(source, { db, prefix: 'p/' }, { map });
  expect(result).toMatchObject({ rows: 2, skipped: 1, verified: true });
  const key = (from: IDBValidKey) => (from instanceof Date ? from.toISOString() : `${from}`);
  const whole = await importFrom(source, { db, prefix: 'q/', key });
  expect(whole).toMatchObject({ rows: 3, verified: true });
  expect(await db.get('q/1970-01-01T00:00:00.005Z')).toBe('date');
  expect((await db.scan({ prefix: 'p/' }).toArray()).map(([, value]) => value).sort()).toEqual([
    'number',
    'other',
  ]);
});

test('inline keys may be numbers, and have several parts', async () => {
  const old = new Dexie(name);
  old.version(1).stores({ tasks: '++id', comments: '[issue+number]' });
  await old.table('tasks').bulkAdd([{ title: 'a' }, { title: 'b' }]);
  const comments = [
    { issue: 'x', number: 10, text: 'ten' },
    { issue: 'x', number: 9, text: 'nine' },
  ];
  await old.table('comments').bulkAdd(comments);
  const db = await open('app', {
    storage: memory(),
    tables: {
      tasks: table({ schema: rowType<{ id: number; title: string }>(), key: ['id'] }),
      comments: table({ schema: rowType<(typeof comments)[number]>(), key: ['issue', 'number'] }),
    },
  });
  await importFrom(
    fromDexie<{ id: number; title: string }>({ database: name, table: 'tasks' }),
    db.tasks,
  );
  await importFrom(
    fromDexie<(typeof comments)[number]>({ database: name, table: 'comments' }),
    db.comments,
  );
  expect(await db.tasks.toArray()).toEqual([
    { id: 1, title: 'a' },
    { id: 2, title: 'b' },
  ]);
  expect(await db.comments.get(['x', 9])).toEqual(comments[1]);
  expect((await db.comments.toArray()).map(({ number }) => number)).toEqual([9, 10]);
  old.close();
});

interface Photo {
  id: string;
  taken: Date;
  tags: Set<string>;
  sizes: Map<string, number>;
  photo: StoredFile;
  raw: Uint8Array;
  big: bigint;
}

test('a structured table takes dates, sets, maps, bytes and files, and a plain one refuses them', async () => {
  const old = new Dexie(name);
  old.version(1).stores({ photos: 'id' });
  const made = {
    id: 'gate',
    taken: new Date(1754000000000),
    tags: new Set(['a', 'b']),
    sizes: new Map([['s', 1]]),
    photo: new File(['a gate'], 'gate.txt', { type: 'text/plain', lastModified: 5 }),
    raw: new Uint8Array([1, 2, 3]).buffer,
    big: 12345678901234567890n,
  };
  await old.table('photos').put(made);
  const source = fromDexie<Photo>({ database: name, table: 'photos' });
  const db = await open('app', {
    storage: memory(),
    tables: {
      photos: table({ schema: rowType<Photo>(), key: 'id', values: 'structured' }),
      plain: table({ schema: rowType<{ id: string; taken: string }>(), key: 'id' }),
    },
  });
  expect(await importFrom(source, db.photos)).toMatchObject({ rows: 1, verified: true });
  const row = await db.photos.get('gate');
  expect([row?.taken, row?.tags, row?.sizes, row?.raw, row?.big]).toEqual([
    made.taken,
    made.tags,
    made.sizes,
    new Uint8Array([1, 2, 3]),
    made.big,
  ]);
  expect(row?.photo).toBeInstanceOf(StoredFile);
  expect([await row?.photo.blob().text(), row?.photo.type]).toEqual(['a gate', 'text/plain']);
  const refused = importFrom(source, db.plain as never);
  await expect(refused).rejects.toMatchObject({
    ...ofKind('invalid-argument/value'),
    pointer: '/taken',
  });
  await expect(refused).rejects.toThrow('record "gate"');
  old.close();
});

test('an import reads items of localForage, and blobs encoded for browsers that cannot store them', async () => {
  const old = localforage.createInstance({ name, driver: localforage.INDEXEDDB });
  await old.setItem('settings', { theme: 'dark' });
  await old.setItem('count', 3);
  await old.setItem('nothing', null);
  await old.setItem('bytes', new Uint8Array([9]));
  await old.setItem('encoded', {
    __local_forage_encoded_blob: true,
    data: btoa('\x00\xffhi'),
    type: 'image/png',
  });
  const db = await open('app', { storage: memory() });
  const source = fromLocalForage<unknown>({ name });
  const map = async (value: unknown) =>
    value instanceof Blob ? new Uint8Array(await value.arrayBuffer()) : value;
  const result = await importFrom(source, { db, prefix: 'settings/' }, { map });
  expect(result).toMatchObject({ rows: 5, verified: true });
  expect(await db.get('settings/settings')).toEqual({ theme: 'dark' });
  expect(await db.get('settings/count')).toBe(3);
  expect(await db.get('settings/nothing')).toBe(null);
  expect(await db.get('settings/bytes')).toEqual(new Uint8Array([9]));
  expect(await db.get('settings/encoded')).toEqual(new Uint8Array([0, 255, 104, 105]));
});

test('an import reads plain IndexedDB, and entries of any other source', async () => {
  await new Promise<void>((resolve, reject) => {
    const request = indexedDB.open(name, 7);
    request.onupgradeneeded = () => {
      const store = request.result.createObjectStore('s');
      store.put({ title: 'out of line', status: 'open' }, 'k1');
    };
    request.onsuccess = () => {
      request.result.close();
      resolve();
    };
    request.onerror = () => reject(request.error);
  });
  const db = await openIssues();
  const source = fromIndexedDB<Omit<Issue, 'id'>, string>({ database: name, store: 's' });
  // Its key is no member of the row.
  await expect(importFrom(source, db.issues as never)).rejects.toMatchObject({
    ...ofKind('invalid-argument/key'),
  });
  const map = (value: Omit<Issue, 'id'>, id: string) => ({ ...value, id });
  expect(await importFrom(source, db.issues, { map })).toMatchObject({ rows: 1, verified: true });
  expect(await db.issues.get('k1')).toEqual({ id: 'k1', title: 'out of line', status: 'open' });
  const databases = await indexedDB.databases();
  expect(databases.find((one) => one.name === name)?.version).toBe(7);

  const list = Array.from(
    { length: 3000 },
    (_, at) => [`e${at}`, { ...issueOf(at), id: `e${at}` }] as const,
  );
  const entries = fromEntries({ name: 'elsewhere', entries: () => list });
  expect(await importFrom(entries, db.issues)).toMatchObject({ rows: 3000, verified: true });
  async function* later() {
    yield* list;
  }
  const again = fromEntries({ name: 'elsewhere', entries: later });
  const repeated = await importFrom(again, db.issues, { again: true });
  expect(repeated).toMatchObject({ rows: 3000, applied: 0, verified: true });
  const none = fromEntries({ name: 'none', entries: async () => undefined });
  expect(await importFrom(none, db.issues)).toMatchObject({ status: 'absent' });
});

interface Part {
  id: string;
  parent?: Part;
  parts: Part[];
}

/** Returns a cycle as structured clones keep it: each part refers to its whole. */
function circle(count: number): Part {
  const whole: Part = { id: 'whole', parts: [] };
  whole.parts = Array.from({ length: count }, (_, at) => ({
    ...{ id: `${at}`, parent: whole, parts: [] },
  }));
  return whole;
}

test('each part of a value is counted once, however often it is reached', () => {
  const [ten, twenty, thirty] = [10, 20, 30].map((count) => sizeOf(circle(count)));
  expect((thirty ?? 0) - (twenty ?? 0)).toBe((twenty ?? 0) - (ten ?? 0));
});

test('an object does not pass for bytes, a blob or a set by the names of its members', () => {
  const named = { byteLength: Number.NaN, size: 3 };
  expect(sizeOf(named)).toBe(16 + 'byteLength'.length + 8 + 'size'.length + 8);
  class Box {
    size = 3;
  }
  expect(sizeOf(new Box())).toBe(16 + 'size'.length + 8);
  expect([sizeOf(new Uint8Array(50)), sizeOf(new ArrayBuffer(60))]).toEqual([50, 60]);
  expect(sizeOf(new Blob(['a gate']))).toBe(6);
  expect(sizeOf(new Map([['key', new Set(['value'])]]))).toBe(16 + 3 + 16 + 5);
});

test('a circular value is refused, and map may cut it', async () => {
  const old = new Dexie(name);
  old.version(1).stores({ parts: 'id' });
  await old.table('parts').put(circle(40));
  const db = await open('app', {
    storage: memory(),
    tables: {
      parts: table({ schema: rowType<{ id: string }>(), key: 'id', values: 'structured' }),
    },
  });
  const source = fromDexie<Part>({ database: name, table: 'parts' });
  const tried = await importFrom(source, db.parts, { dryRun: true });
  expect(tried).toMatchObject({
    rows: 0,
    refused: 1,
    failed: [{ code: 'invalid-argument', detail: 'value' }],
  });
  const map = ({ id, parts }: Part) => ({ id, parts: parts.map((one) => one.id) });
  expect(await importFrom(source, db.parts, { map })).toMatchObject({ rows: 1, verified: true });
  old.close();
});

test('a part that a row has twice has its files in both places', async () => {
  const blob = new Blob(['a gate'], { type: 'text/plain' });
  const shared = { blob };
  const made = await withFiles({ one: shared, two: shared, blob });
  expect(made).toMatchObject({ one: { blob: { type: 'text/plain' } }, blob: { size: 6 } });
  expect((made as { two: unknown }).two).toEqual((made as { one: unknown }).one);
});
