/** Imports of databases that Dexie has written: first and repeated imports, and the decisions of the caller. */
import 'fake-indexeddb/auto';
import { beforeEach, expect, test } from 'vitest';
import { memory, open } from '../../hedgerow/src/index.js';
import { kindOf, ofKind } from '../../hedgerow/test/support/error-kind.js';
import {
  fromDexie,
  fromEntries,
  fromIndexedDB,
  type ImportFromProgress,
  importFrom,
} from '../src/index.js';
import { type Issue, issueOf, nextName, openIssues, writeOld } from './import-from-old-app.js';

let name = '';
beforeEach(() => {
  name = nextName();
});

test('a Dexie table becomes a table, in one commit, while Dexie has it open', async () => {
  const old = await writeOld(name, 10_000);
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

test('the root equals the root of the same rows put by hand, without traces of an import', async () => {
  const old = await writeOld(name, 500);
  const [db, other] = [await openIssues(), await openIssues()];
  await importFrom(fromDexie<Issue>({ database: name, table: 'issues' }), db.issues);
  await other.issues.putMany(Array.from({ length: 500 }, (_, at) => issueOf(at)));
  expect(db.root).toBe(other.root);
  old.close();
});

test('a second call resolves at once, and again brings in the later changes of both sides', async () => {
  const old = await writeOld(name, 2000);
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
  // Once more: there is no work left.
  const fourth = await importFrom(source, db.issues, { again: true });
  expect(fourth).toMatchObject({ applied: 0, conflicts: 0, verified: true, rows: 2000 });
  old.close();
});

test('rows that both sides have changed are conflicts, and onConflict decides', async () => {
  const old = await writeOld(name, 100);
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

test('onConflict must not return a row with another key', async () => {
  const old = await writeOld(name, 2);
  const db = await openIssues();
  await db.issues.put({ ...issueOf(1), title: 'mine' });
  const source = fromDexie<Issue>({ database: name, table: 'issues' });
  const fails = importFrom(source, db.issues, { onConflict: () => issueOf(7) });
  await expect(fails).rejects.toMatchObject({
    ...ofKind('invalid-argument/key'),
    key: 'issues/i000001',
  });
  expect(await db.issues.toArray()).toEqual([{ ...issueOf(1), title: 'mine' }]);
  old.close();
});

test('each source and place has a branch of its own, whatever their names', async () => {
  const db = await open('app', { storage: memory() });
  const entries = () => [['k', 1]] as const;
  const [one, two] = [fromEntries({ name: 'a', entries }), fromEntries({ name: 'a/b', entries })];
  expect((await importFrom(one, { db, prefix: 'b/' })).status).toBe('imported');
  expect((await importFrom(two, { db, prefix: '' })).status).toBe('imported');
  expect(await db.scan().keys().toArray()).toEqual(['b/k', 'k']);
});

test('an earlier row of the table is a conflict unless it is equal', async () => {
  const old = await writeOld(name, 3);
  const db = await openIssues();
  await db.issues.put(issueOf(0));
  await db.issues.put({ ...issueOf(1), title: 'mine' });
  const source = fromDexie<Issue>({ database: name, table: 'issues' });
  const error = await importFrom(source, db.issues).catch((cause) => cause);
  expect([kindOf(error), error.conflicts.map(({ key }: { key: string }) => key)]).toEqual([
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
  // Where databases cannot be listed, the upgrade that would make one is aborted.
  const { databases } = indexedDB;
  Object.defineProperty(indexedDB, 'databases', { value: undefined, configurable: true });
  expect(await importFrom(source, db.issues)).toMatchObject({ status: 'absent' });
  Object.defineProperty(indexedDB, 'databases', { value: databases, configurable: true });
  const names = (await indexedDB.databases()).map((one) => one.name);
  expect(names).not.toContain(name);
  expect((await db.branches.list()).map((branch) => branch.name)).toEqual(['main']);
  // A missing store may be a mistake in its name.
  const old = await writeOld(name, 1);
  const typo = importFrom(fromDexie<Issue>({ database: name, table: 'issue' }), db.issues);
  await expect(typo).rejects.toThrow('has no object store issue, but issues, others');
  await expect(typo).rejects.toMatchObject(ofKind('invalid-argument'));
  old.close();
});

test('an import does not block an upgrade by the old app, nor a deletion', async () => {
  const old = await writeOld(name, 3000);
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
  // A finished import stays finished; without its branch there are no rows to import.
  expect(await importFrom(source, db.issues)).toMatchObject({ status: 'already' });
  await db.branches.delete(branch);
  expect(await importFrom(source, db.issues)).toMatchObject({ status: 'absent' });
  expect(await db.issues.count()).toBe(3001);
});

test('a dry run lists the rows that would fail, and does not write', async () => {
  const old = await writeOld(name, 10);
  await old.table('issues').put({ id: 'bad', title: new Map(), status: 'x' });
  await old.table('issues').put({ id: 'worse', title: Number.NaN, status: 'x' });
  const db = await openIssues();
  const source = fromDexie<Issue>({ database: name, table: 'issues' });
  const { root } = db;
  const tried = await importFrom(source, db.issues, { dryRun: true });
  expect(tried).toMatchObject({ status: 'tried', rows: 10, refused: 2, applied: 0 });
  expect(tried.failed.map(({ key, detail, pointer }) => [key, detail, pointer])).toEqual([
    ['"bad"', 'value', '/title'],
    ['"worse"', 'value', '/title'],
  ]);
  expect([db.root, (await db.branches.list()).length]).toEqual([root, 1]);
  const real = await importFrom(source, db.issues, { skipFailed: true });
  expect(real).toMatchObject({ rows: 10, refused: 2, verified: true, failed: tried.failed });
  expect(await db.issues.count()).toBe(10);
  old.close();
});

test('map makes rows and leaves records out, and its exceptions end the import unchanged', async () => {
  const old = await writeOld(name, 30);
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

test('arguments are checked', async () => {
  const db = await openIssues();
  const source = fromEntries<Issue>({ name: 'x', entries: () => [] });
  const codes: [unknown, string][] = [
    [() => fromDexie({ database: 'a', tables: 'b' } as never), 'takes no tables'],
    [() => fromIndexedDB({ database: 'a' } as never), 'store must be well-formed text'],
    [() => fromEntries({ name: 'a', entries: [] } as never), 'entries must be a function'],
    [() => importFrom(source, db as never), 'db.branch'],
    [() => importFrom({} as never, db.issues), 'importFrom takes a source'],
    [
      () => importFrom({ ...source, name: '\ud800' }, db.issues),
      'the name of a source must be well-formed text',
    ],
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
    expect(kindOf(error)).toBe('invalid-argument');
  }
});
