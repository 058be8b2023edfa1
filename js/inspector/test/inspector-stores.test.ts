/** The inspector reads stores, and changes them only by edits. */
import { describe, expect, it } from 'vitest';
import { EMPTY_ROOT } from '../../hedgerow/src/base/root-hash.js';
import { clone, importStore, memory, open, type Storage } from '../../hedgerow/src/index.js';
import { bucket } from '../../hedgerow/src/sync/link/bucket.js';
import { memoryRemote } from '../../hedgerow/src/sync/remote/index.js';
import { collectOnDemand } from '../../hedgerow/test/support/collect-on-demand.js';
import { watched } from '../../hedgerow/test/support/doubles/watched-storage.js';
import { all, failure, SOON } from '../../hedgerow/test/support/models/store-model.js';
import { random } from '../../hedgerow/test/support/random.js';
import { treesOf } from '../src/model/commit-trees.js';
import { rootFrom, statesOf } from '../src/model/comparable-roots.js';
import { compareRoots } from '../src/model/compare-roots.js';
import { livePartOf } from '../src/model/live-segment-bytes.js';
import { readOnly } from '../src/model/read-only-storage.js';
import { exportedOf, exportFileName, openFile } from '../src/model/store-export-file.js';
import { Session } from '../src/model/store-session.js';
import { summaryOf } from '../src/model/store-summary.js';

const indexes = {
  byState: { path: ['/state', '/n'] },
  byN: { path: '/n', prefix: 'issue/', nulls: true, below: 50 },
  byWord: { path: { words: '/title' } },
};
const ROWS = 3000;
const rowOf = (n: number) => ({ n: n % 100, state: n % 3 ? 'open' : 'done', title: `Gate ${n}` });
const keyOf = (n: number) => `issue/${String(n).padStart(5, '0')}`;

/** Makes a store with rows, indexes, large values and a complete branch. */
async function made(storage: Storage = memory()) {
  const db = await open('app', { storage, indexes });
  await db.putMany(Array.from({ length: ROWS }, (_, n) => [keyOf(n), rowOf(n)] as const));
  await db.put('large', random(1).bytes(200_000));
  const draft = await db.branches.open('draft');
  await draft.put(keyOf(1), { changed: true });
  await draft.delete(keyOf(2));
  await draft.put('new', 'row');
  return { storage, db, draft, place: { name: 'app', storage, canEdit: true } };
}

describe('a handle that only reads', () => {
  it('does not write, neither by calls nor in the background, and makes no store', async () => {
    const storage = watched(memory());
    const { db } = await made(storage);
    await db.close();
    const [before, root] = [storage.written.length, db.root];
    const reader = await open('app', {
      storage: readOnly(storage),
      // Any other handle builds a missing index.
      indexes: { ...indexes, missing: { path: '/missing' } },
    });
    await expect(reader.put('a', 1)).rejects.toEqual(failure('blocked'));
    await expect(reader.clear()).rejects.toEqual(failure('blocked'));
    await expect(reader.branches.open('other')).rejects.toEqual(failure('blocked'));
    const missing = reader.scan({ index: 'missing' }).toArray();
    await expect(missing).rejects.toEqual(failure('blocked'));
    await expect(reader.health.compact()).rejects.toThrow();
    expect(await reader.count()).toBe(ROWS + 1);
    await reader.close();
    expect(storage.written.length).toBe(before);
    const again = await open('app', { storage });
    expect(again.root).toBe(root);
    await again.close();
    const none = open('none', { storage: readOnly(storage) });
    await expect(none).rejects.toEqual(failure('not-found/store'));
    await expect(readOnly(storage).destroy('app')).rejects.toEqual(failure('blocked'));
  });

  it('never becomes the collector, and its reads stay complete', async () => {
    const { storage, db } = await made();
    await db.close();
    const reader = await open('app', { storage: readOnly(storage) });
    expect((await reader.health.stats()).compactor).toBe('other');
    const kept = reader.snapshot();
    const writer = await open('app', { storage });
    expect((await writer.health.stats()).compactor).toBe('this');
    await writer.clear();
    await writer.health.compact();
    expect(await kept.count()).toBe(ROWS + 1);
    expect(await kept.get(keyOf(7))).toEqual(rowOf(7));
    kept.close();
    await reader.close();
    await writer.close();
  });
});

describe('a session', () => {
  it('finds all trees of a commit, with definitions as they were given', async () => {
    const { db, draft, place } = await made();
    const session = await Session.open(place);
    const [rows, ...others] = [...session.trees].sort((a) => (a.kind === 'rows' ? -1 : 1));
    expect(rows).toMatchObject({ kind: 'rows', count: ROWS + 1 });
    expect(others.map(({ definition, isComplete }) => [definition, isComplete])).toEqual(
      expect.arrayContaining([
        [{ path: ['/state', '/n'] }, true],
        [{ path: ['/n'], prefix: 'issue/', nulls: true, below: 50 }, true],
        [{ path: [{ words: '/title' }] }, true],
      ]),
    );
    expect(session.indexes).toHaveLength(3);
    for (const { name, count } of others) {
      expect(await session.db.count({ index: name, wait: false } as never)).toBe(count);
    }
    await session.close();
    await db.clear();
    // A store without rows has no commit.
    expect(await treesOf(db)).toEqual([]);
    await draft.close();
  });

  it('reads a branch, and only indexes that it and the main branch have', async () => {
    const { storage, db, place } = await made();
    await db.close();
    // A version of the app with one index makes it; other branches stay as they are.
    const plain = await open('app', {
      storage,
      indexes: { byState: indexes.byState },
      advanced: { dropOtherIndexes: true },
    });
    await plain.put('x', 1);
    await expect.poll(async () => (await treesOf(plain)).length, SOON).toBe(2);
    const session = await Session.open(place, 'draft');
    expect(session.branchName).toBe('draft');
    expect(session.indexes).toEqual(['["","/state","/n"]']);
    expect(session.trees.filter(({ kind }) => kind === 'index')).toHaveLength(3);
    expect(await session.db.get('new')).toBe('row');
    await session.close();
    await expect(Session.open(place, 'none')).rejects.toEqual(failure('not-found/branch'));
    expect((await plain.branches.list()).map(({ name }) => name)).toEqual(['main', 'draft']);
    await plain.close();
  });

  it('edits a row that is as it was shown, on its branch, and keeps indexes', async () => {
    const { db, draft, place } = await made();
    const session = await Session.open(place, 'draft');
    const shown = await session.db.get(keyOf(5));
    await session.edit(keyOf(5), shown, { n: 49, state: 'edited', title: 'x' });
    await session.edit('made', undefined, Uint8Array.of(1, 2, 3));
    await session.edit('new', 'row', undefined);
    // The handle of the app hears of the edits one by one.
    await expect.poll(() => draft.has('new'), SOON).toBe(false);
    expect(await draft.get('made')).toEqual(Uint8Array.of(1, 2, 3));
    const edited = await draft.scan({ index: 'byState', equals: 'edited' }).keys().toArray();
    expect(edited).toEqual([keyOf(5)]);
    // A later change by another handle stays, and the other branch does too.
    await expect(session.edit(keyOf(5), shown, 'lost')).rejects.toEqual(failure('conflict'));
    await expect(session.edit('made', undefined, 'lost')).rejects.toEqual(failure('conflict'));
    expect(await draft.get(keyOf(5))).toMatchObject({ state: 'edited' });
    expect(await db.get(keyOf(5))).toEqual(rowOf(5));
    await session.close();
    const file = await Session.open({ ...place, canEdit: false });
    await expect(file.edit('a', undefined, 1)).rejects.toEqual(failure('invalid-argument'));
    await file.close();
  });
});

describe('the report on a store', () => {
  it('has the contents of the store', async () => {
    const { storage, db } = await made();
    const { storedBytes, segments } = await db.health.stats();
    const summary = await summaryOf('app', storage);
    expect(summary).toMatchObject({ root: db.root, rows: ROWS + 1, segments, branches: ['draft'] });
    expect(summary.bytes).toBeGreaterThanOrEqual(storedBytes);
    expect(summary.bytes).toBeLessThan(storedBytes * 1.2);
    await expect(summaryOf('none', storage)).rejects.toEqual(failure('not-found/store'));
  });

  it('has states with their roots, and compares any two', async () => {
    const { db, draft, place } = await made();
    const session = await Session.open(place, 'draft');
    const kept = session.keep();
    await session.edit('later', undefined, 1);
    await expect.poll(() => session.db.root, SOON).not.toBe(kept.root);
    const states = await statesOf(session);
    const rootOf = (title: string) => states.find((one) => one.title.includes(title))?.root ?? '';
    expect(rootOf('head of main')).toBe(db.root);
    expect(rootOf('kept state 1')).toBe(kept.root);
    expect(rootOf('draft: where it left main')).toBe(db.root);
    expect(new Set(states.map(({ root }) => root)).size).toBe(states.length);
    const fork = rootOf('head of main');
    const compared = await compareRoots(session.db, fork, session.db.root);
    expect(compared).toMatchObject({ added: 2, changed: 1, deleted: 1, isDone: true });
    expect(compared.changes.map(({ op, key }) => [op, key])).toEqual([
      ['update', keyOf(1)],
      ['delete', keyOf(2)],
      ['insert', 'later'],
      ['insert', 'new'],
    ]);
    const some = await compareRoots(session.db, EMPTY_ROOT, fork, { prefix: 'issue/', limit: 10 });
    expect([some.added, some.changes.length]).toEqual([ROWS, 10]);
    expect(rootFrom(` ${fork.toUpperCase()} `)).toBe(fork);
    expect(() => rootFrom('abc')).toThrow(failure('invalid-argument'));
    const gone = compareRoots(session.db, 'ab'.repeat(32), fork);
    await expect(gone).rejects.toEqual(failure('missing-chunk'));
    const aborted = compareRoots(session.db, EMPTY_ROOT, fork, { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toEqual(failure('aborted'));
    await session.close();
    await draft.close();
  });

  it('counts the live data of each segment as the core does', async () => {
    // Another collection could come between the two counts.
    collectOnDemand();
    const { storage, db, draft } = await made();
    await draft.close();
    await db.branches.delete('draft');
    for (let n = 0; n < 300; n += 7) await db.put(keyOf(n), 'changed');
    const { liveBytes, storedBytes } = await db.health.stats();
    const part = await livePartOf('app', storage);
    expect(part).toMatchObject({ liveBytes, bytes: storedBytes, missing: 0, hasSums: false });
    expect(part.segments.some((one) => one.liveBytes < one.bytes)).toBe(true);
    for (const one of part.segments) expect(one.liveBytes).toBeLessThanOrEqual(one.bytes);
    // A branch keeps the data that only it reaches.
    const kept = await db.branches.open('kept');
    await kept.put('own', random(2).bytes(100_000));
    await db.clear();
    const own = (await livePartOf('app', storage)).liveBytes;
    expect(own).toBeGreaterThanOrEqual(liveBytes + 100_000);
    const aborted = livePartOf('app', storage, { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toEqual(failure('aborted'));
  });

  it('says that sum trees are not followed', async () => {
    const storage = memory();
    const db = await open('app', { storage, advanced: { sums: { total: { sum: '/n' } } } });
    await db.putMany(Array.from({ length: 500 }, (_, n) => [keyOf(n), { n }] as const));
    const sum = (await treesOf(db)).find(({ kind }) => kind === 'sum');
    expect(sum).toMatchObject({ name: 'total', count: 500, isComplete: true });
    const { hasSums, missing, liveBytes, bytes } = await livePartOf('app', storage);
    expect([hasSums, missing]).toEqual([true, 0]);
    expect(liveBytes).toBeLessThan(bytes);
  });

  it('names missing chunks', async () => {
    const storage = watched(memory());
    const { db } = await made(storage);
    await db.close();
    storage.hooks.load = (loaded) => ({ ...loaded, tables: loaded.tables.slice(1) });
    expect((await livePartOf('app', storage)).missing).toBeGreaterThan(0);
  });

  it('lists the branches of a remote', async () => {
    const remote = memoryRemote();
    const { db } = await clone('app', bucket(remote), { storage: memory() });
    await db.put('a', 1);
    const link = await db.connect(bucket(remote));
    await link.push();
    const names = (await db.branches.list({ remotes: true })).map(({ name }) => name);
    expect(names).toContain('remote/origin');
    await db.close();
  });
});

describe('a file', () => {
  it('has the store with its branches, and is shown without being stored', async () => {
    const { db, place } = await made();
    const session = await Session.open(place);
    const told: number[] = [];
    const blob = await exportedOf(session.db, true, ({ bytes, ofBytes }) =>
      told.push(bytes / ofBytes),
    );
    expect(told.at(-1)).toBe(1);
    expect(exportFileName('my app/7', db.root)).toBe(`my-app-7-${db.root.slice(0, 8)}.hedgerow`);
    const file = await openFile('a file', blob);
    const opened = await Session.open(file, 'draft');
    expect(opened.place.canEdit).toBe(false);
    expect(await opened.db.get('new')).toBe('row');
    expect(opened.indexes).toHaveLength(3);
    const main = await Session.open(file);
    expect(main.db.root).toBe(db.root);
    expect(await all(main.db)).toEqual(await all(db));
    // As any export is.
    const storage = memory();
    const result = await importStore('copy', blob, { storage });
    expect(result.root).toBe(db.root);
    const cut = openFile('cut', blob.slice(0, blob.size - 9));
    await expect(cut).rejects.toEqual(failure('invalid-data/export'));
    await Promise.all([session, opened, main].map((one) => one.close()));
  });
});
