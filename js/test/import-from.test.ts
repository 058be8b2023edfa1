/** Imports of databases that the real libraries have written. */
import 'fake-indexeddb/auto';
import { Dexie } from 'dexie';
import * as keyval from 'idb-keyval';
import localforage from 'localforage';
import { beforeEach, expect, test } from 'vitest';
import {
  fromDexie,
  fromEntries,
  fromIdbKeyval,
  fromIndexedDB,
  fromLocalForage,
  type ImportFromProgress,
  importFrom,
} from '../src/import-from/index.js';
import { memory, open } from '../src/index.js';
import { decodeKey } from '../src/keys/index.js';
import { StoredFile, table } from '../src/tables/index.js';

interface Issue {
  id: string;
  title: string;
  status: string;
}

const issues = table<Issue>()({ key: 'id', indexes: { byStatus: ['status'] } });
const openIssues = () => open('app', { storage: memory(), tables: { issues } });

let counter = 0;
let name = '';
beforeEach(() => {
  counter += 1;
  name = `old-${counter}`;
});

const issueOf = (at: number): Issue => ({
  id: `i${String(at).padStart(6, '0')}`,
  title: `Mend gate ${at}`,
  status: at % 3 === 0 ? 'open' : 'closed',
});

async function dexie(count: number, version = 3) {
  const old = new Dexie(name);
  old.version(version).stores({ issues: 'id, status', others: '++id' });
  await old.table('issues').bulkPut(Array.from({ length: count }, (_, at) => issueOf(at)));
  return old;
}

test('a Dexie table becomes a table, in one commit, while Dexie has it open', async () => {
  const old = await dexie(10_000);
  const db = await openIssues();
  const told: ImportFromProgress[] = [];
  const commits: string[] = [];
  db.watch({}, (_, { root }) => void commits.push(root));
  const result = await importFrom(
    fromDexie<Issue>({ database: name, table: 'issues' }),
    db.issues,
    {
      onProgress: (progress) => void told.push(progress),
    },
  );
  expect(result).toMatchObject({
    ...{ status: 'imported', rows: 10_000, skipped: 0, refused: 0, failed: [] },
    ...{ changedMeanwhile: 0, applied: 10_000, conflicts: 0, verified: true },
  });
  expect(await db.issues.toArray()).toEqual(Array.from({ length: 10_000 }, (_, at) => issueOf(at)));
  expect(await db.issues.where({ status: 'open' }).count()).toBe(3334);
  expect(told.map(({ phase }) => phase)).toContain('verifying');
  expect(told.at(-1)).toMatchObject({ phase: 'merging', done: 10_000, total: 10_000 });
  await expect.poll(() => commits).toEqual([db.root]);
  // The old app goes on, with its version.
  await old.table('issues').put(issueOf(20_000));
  expect([await old.table('issues').count(), old.verno]).toEqual([10_001, 3]);
  old.close();
  await db.close();
});

test('the root is that of the same rows which were put: nothing of an import is among them', async () => {
  const old = await dexie(500);
  const [db, other] = [await openIssues(), await openIssues()];
  await importFrom(fromDexie<Issue>({ database: name, table: 'issues' }), db.issues);
  await other.issues.putMany(Array.from({ length: 500 }, (_, at) => issueOf(at)));
  expect(db.root).toBe(other.root);
  old.close();
});

test('a second call resolves at once; again brings in what both sides have changed since', async () => {
  const old = await dexie(2000);
  const source = fromDexie<Issue>({ database: name, table: 'issues' });
  const db = await openIssues();
  const first = await importFrom(source, db.issues);
  await db.issues.update('i000001', { title: 'Changed here' });
  await db.issues.delete('i000002');
  const here: Issue = { id: 'here', title: 'Only here', status: 'open' };
  await db.issues.put(here);
  await old.table('issues').update('i000003', { title: 'Changed there' });
  await old.table('issues').delete('i000004');
  await old.table('issues').put({ id: 'there', title: 'Only there', status: 'open' });
  const { root } = db;
  const second = await importFrom(source, db.issues);
  expect([second.status, second.rows, second.verified, db.root]).toEqual([
    'already',
    2000,
    true,
    root,
  ]);
  const third = await importFrom(source, db.issues, { again: true });
  expect(third).toMatchObject({ status: 'imported', rows: 2000, applied: 3, verified: true });
  expect(third.changedMeanwhile).toBe(0);
  expect(third.branch).toBe(first.branch);
  const titles = await db.issues.getMany(['i000001', 'i000003', 'here', 'there']);
  expect(titles.map((row) => row?.title)).toEqual([
    'Changed here',
    'Changed there',
    'Only here',
    'Only there',
  ]);
  expect(await db.issues.getMany(['i000002', 'i000004'])).toEqual([undefined, undefined]);
  // Once more: nothing is left to do.
  const fourth = await importFrom(source, db.issues, { again: true });
  expect(fourth).toMatchObject({ applied: 0, conflicts: 0, verified: true, rows: 2000 });
  old.close();
});

test('rows that both sides have changed are conflicts, and onConflict decides', async () => {
  const old = await dexie(100);
  const source = fromDexie<Issue>({ database: name, table: 'issues' });
  const db = await openIssues();
  await importFrom(source, db.issues);
  for (const id of ['i000001', 'i000002', 'i000003']) {
    await old.table('issues').update(id, { title: 'there' });
    await db.issues.update(id, { title: 'here' });
  }
  const fails = importFrom(source, db.issues, { again: true });
  await expect(fails).rejects.toMatchObject({ code: 'conflict' });
  expect((await db.issues.get('i000001'))?.title).toBe('here');
  const seen: unknown[] = [];
  const result = await importFrom(source, db.issues, {
    again: true,
    onConflict: ({ base, ours, theirs }) => {
      seen.push([base?.title, ours?.title, theirs?.title]);
      if (theirs?.id === 'i000001') return ours;
      return theirs?.id === 'i000002' ? theirs : ({ ...theirs, title: 'both' } as Issue);
    },
  });
  expect(result).toMatchObject({ conflicts: 3, applied: 2, verified: true });
  expect(seen).toContainEqual(['Mend gate 1', 'here', 'there']);
  const rows = await db.issues.getMany(['i000001', 'i000002', 'i000003']);
  expect(rows.map((row) => row?.title)).toEqual(['here', 'there', 'both']);
  old.close();
});

test('a row that the table had before is a conflict unless it is the same', async () => {
  const old = await dexie(3);
  const db = await openIssues();
  await db.issues.put(issueOf(0));
  await db.issues.put({ ...issueOf(1), title: 'mine' });
  const source = fromDexie<Issue>({ database: name, table: 'issues' });
  const error = await importFrom(source, db.issues).catch((cause) => cause);
  expect([error.code, error.conflicts.map(({ key }: { key: string }) => key)]).toEqual([
    'conflict',
    ['issues/i000001'],
  ]);
  const result = await importFrom(source, db.issues, { onConflict: ({ ours }) => ours });
  expect(result).toMatchObject({ applied: 1, conflicts: 1, rows: 3 });
  expect((await db.issues.get('i000001'))?.title).toBe('mine');
  old.close();
});

test('a database that does not exist is not made, and leaves no branch', async () => {
  const db = await openIssues();
  const source = fromDexie<Issue>({ database: name, table: 'issues' });
  expect(await importFrom(source, db.issues)).toMatchObject({ status: 'absent', rows: 0 });
  // Where it cannot be listed, the upgrade that would make it is given up.
  const { databases } = indexedDB;
  Object.defineProperty(indexedDB, 'databases', { value: undefined, configurable: true });
  expect(await importFrom(source, db.issues)).toMatchObject({ status: 'absent' });
  Object.defineProperty(indexedDB, 'databases', { value: databases, configurable: true });
  const names = (await indexedDB.databases()).map((one) => one.name);
  expect(names).not.toContain(name);
  expect((await db.branches()).map((branch) => branch.name)).toEqual(['main']);
  // A store that is not there may be a mistake in its name.
  const old = await dexie(1);
  const typo = importFrom(fromDexie<Issue>({ database: name, table: 'issue' }), db.issues);
  await expect(typo).rejects.toThrow('has no object store issue, but issues, others');
  await expect(typo).rejects.toMatchObject({ code: 'invalid-argument' });
  old.close();
});

test('an upgrade by the old app, and a deletion, are not blocked by an import', async () => {
  const old = await dexie(3000);
  old.close();
  const db = await openIssues();
  const source = fromDexie<Issue>({ database: name, table: 'issues' });
  let upgraded: Promise<unknown> | undefined;
  const blocked: unknown[] = [];
  const result = await importFrom(source, db.issues, {
    onProgress: () => {
      upgraded ??= new Promise((resolve, reject) => {
        const request = indexedDB.open(name, 1000);
        request.onblocked = () => blocked.push(1);
        request.onupgradeneeded = () => {
          request.transaction?.objectStore('issues').put(issueOf(5000));
        };
        request.onsuccess = () => {
          request.result.close();
          resolve(1);
        };
        request.onerror = () => reject(request.error);
      });
    },
  });
  await upgraded;
  expect(blocked).toEqual([]);
  expect(result).toMatchObject({ status: 'imported', rows: 3001, verified: true });
  const { branch } = await importFrom(source, db.issues);
  await new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = resolve;
    request.onblocked = reject;
  });
  // What is done stays done; without its branch there is nothing to import.
  expect(await importFrom(source, db.issues)).toMatchObject({ status: 'already' });
  await db.deleteBranch(branch);
  expect(await importFrom(source, db.issues)).toMatchObject({ status: 'absent' });
  expect(await db.issues.count()).toBe(3001);
});

test('keys of all kinds come into a prefix of a store, and back', async () => {
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

test('keys that cannot be mapped are named', async () => {
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
    expect([error.code, error.message]).toEqual(['invalid-key', expect.stringContaining(message)]);
    expect(await db.count()).toBe(0);
    const left = await importFrom(source, { db, prefix: '' }, { skipFailed: true });
    expect(left).toMatchObject({ rows: 1, refused: 1, verified: true });
    expect(left.failed[0]).toMatchObject({ code: 'invalid-key' });
    await db.deleteBranch(left.branch);
    await db.clear();
  }
});

test('of two records with one key one is named; a key of their own mends that', async () => {
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
    expect([error.code, error.message]).toEqual([
      'invalid-key',
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

test('inline keys that are numbers, and keys of several parts', async () => {
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
      tasks: table<{ id: number; title: string }>()({ key: ['id'] }),
      comments: table<(typeof comments)[number]>()({ key: ['issue', 'number'] }),
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

test('dates, sets, maps, bytes and files come into a structured table; a plain one refuses them', async () => {
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
      photos: table<Photo>()({ key: 'id', values: 'structured' }),
      plain: table<{ id: string; taken: string }>()({ key: 'id' }),
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
  await expect(refused).rejects.toMatchObject({ code: 'invalid-value', pointer: '/taken' });
  await expect(refused).rejects.toThrow('record "gate"');
  old.close();
});

test('what localForage has stored, and blobs as it encodes them for browsers that cannot store them', async () => {
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

test('a dry run lists what would fail, and writes nothing', async () => {
  const old = await dexie(10);
  await old.table('issues').put({ id: 'bad', title: new Map(), status: 'x' });
  await old.table('issues').put({ id: 'worse', title: Number.NaN, status: 'x' });
  const db = await openIssues();
  const source = fromDexie<Issue>({ database: name, table: 'issues' });
  const { root } = db;
  const tried = await importFrom(source, db.issues, { dryRun: true });
  expect(tried).toMatchObject({ status: 'tried', rows: 10, refused: 2, applied: 0 });
  expect(tried.failed.map(({ key, code, pointer }) => [key, code, pointer])).toEqual([
    ['"bad"', 'invalid-value', '/title'],
    ['"worse"', 'invalid-value', '/title'],
  ]);
  expect([db.root, (await db.branches()).length]).toEqual([root, 1]);
  const real = await importFrom(source, db.issues, { skipFailed: true });
  expect(real).toMatchObject({ rows: 10, refused: 2, verified: true, failed: tried.failed });
  expect(await db.issues.count()).toBe(10);
  old.close();
});

test('map makes rows, leaves records out, and what it throws ends the import as it is', async () => {
  const old = await dexie(30);
  const db = await openIssues();
  const source = fromDexie<Issue>({ database: name, table: 'issues' });
  const own = new RangeError('not this one');
  const fails = importFrom(source, db.issues, {
    map: (value) => {
      if (value.id === 'i000007') throw own;
      return value;
    },
  });
  await expect(fails).rejects.toBe(own);
  const result = await importFrom(source, db.issues, {
    map: async (value, key) =>
      value.status === 'open' ? { ...value, title: `${key}` } : undefined,
  });
  expect(result).toMatchObject({ rows: 10, skipped: 20, verified: true });
  expect(await db.issues.get('i000003')).toEqual({ ...issueOf(3), title: 'i000003' });
  old.close();
});

test('plain IndexedDB, and entries of anything else', async () => {
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
    code: 'invalid-key',
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

test('arguments are checked', async () => {
  const db = await openIssues();
  const source = fromEntries<Issue>({ name: 'x', entries: () => [] });
  const codes: [unknown, string][] = [
    [() => fromDexie({ database: 'a', tables: 'b' } as never), 'takes no tables'],
    [() => fromIndexedDB({ database: 'a' } as never), 'store must be well-formed text'],
    [() => fromEntries({ name: 'a', entries: [] } as never), 'entries must be a function'],
    [() => importFrom(source, db as never), 'db.branch'],
    [() => importFrom({} as never, db.issues), 'importFrom takes a source'],
    [() => importFrom(source, { db, prefix: 5 } as never), 'prefix must be'],
    [() => importFrom(source, { db, prefix: '', key: 1 } as never), 'key must be a function'],
    [() => importFrom(source, { db: {}, prefix: '' } as never), 'importFrom writes to a table'],
    [() => importFrom(source, db.issues, { map: 5 } as never), 'map must be a function'],
    [() => importFrom(source, db.issues, { again: 1 } as never), 'again must be a boolean'],
    [() => importFrom(source, db.issues, { agian: true } as never), 'takes no agian'],
  ];
  for (const [call, message] of codes) {
    const error = (await (async () => (call as () => unknown)())().catch(
      (cause) => cause,
    )) as Error & { code: string };
    if (message !== 'db.branch') expect(error.message).toContain(message);
    expect(error.code).toBe('invalid-argument');
  }
});
