/** Imports in several tabs, also where locks do not keep them apart. */
import { afterEach, expect, test, vi } from 'vitest';
import { memory, open, rowType, type Storage, table } from '../../hedgerow/src/index.js';
import { forSeeds } from '../../hedgerow/test/support/property.js';
import { fromEntries, importFrom } from '../src/index.js';
import { type Note, NoteSource } from './import-from-source.js';

const notes = table({ schema: rowType<Note>(), key: 'id', indexes: { byKind: ['kind'] } });
const openNotes = (storage: Storage = memory()) => open('app', { storage, tables: { notes } });

afterEach(() => {
  vi.unstubAllGlobals();
});

test('one of two calls imports, and the other waits for its end', async () => {
  const source = new NoteSource();
  source.add(1000, 3000);
  const storage = memory();
  const [one, two] = [await openNotes(storage), await openNotes(storage)];
  const results = await Promise.all([importFrom(source, one.notes), importFrom(source, two.notes)]);
  expect(results.map(({ status }) => status).sort()).toEqual(['already', 'imported']);
  expect(results.map(({ rows }) => rows)).toEqual([1000, 1000]);
  await expect.poll(() => two.notes.count()).toBe(1000);
});

test('tabs that hold one lock at a time by mistake, as after a freeze, do not harm each other', async () => {
  await forSeeds(10, async (from) => {
    lockForAll();
    const source = new NoteSource();
    source.add(from.below(600), 4000);
    source.onRead = () => new Promise((resolve) => setTimeout(resolve, from.below(4)));
    const storage = memory();
    const handles = await Promise.all([1, 2, 3].map(() => openNotes(storage)));
    const results = await Promise.all(handles.map((db) => importFrom(source, db.notes)));
    for (const { rows } of results) expect(rows).toBe(source.notes.size);
    expect(results.some(({ status }) => status === 'imported')).toBe(true);
    const fresh = await openNotes(storage);
    expect(await fresh.notes.toArray()).toEqual(source.rows);
    const only = await openNotes();
    await only.notes.putMany(source.rows);
    expect(fresh.root).toBe(only.root);
  });
});

/** Grants each tab its own lock, as without Web Locks or after a tab was frozen. */
function lockForAll(): void {
  const request = (_: string, __: object, hold: (lock: unknown) => unknown) => hold({});
  vi.stubGlobal('navigator', { locks: { request, query: async () => ({}), areKept: true } });
}

test('an overtaken tab does not write the rows that it has read', async () => {
  lockForAll();
  const source = new NoteSource();
  source.add(10);
  const storage = memory();
  const [frozen, other] = [await openNotes(storage), await openNotes(storage)];
  let thaw = () => {};
  const isFrozen = new Promise<void>((resolve) => {
    thaw = resolve;
  });
  let isReached = () => {};
  const reached = new Promise<void>((resolve) => {
    isReached = resolve;
  });
  const late = importFrom<Note, string, Note>(source, frozen.notes, {
    map: async (note) => {
      isReached();
      await isFrozen;
      return note;
    },
  });
  await reached;
  source.notes.set('n000000', { id: 'n000000', text: 'newer' });
  expect((await importFrom(source, other.notes)).status).toBe('imported');
  thaw();
  expect((await late).status).toBe('already');
  // The frozen tab had read the older row, which the next merge would bring.
  const again = await importFrom(source, other.notes, { again: true });
  expect(again).toMatchObject({ applied: 0, changedMeanwhile: 0, verified: true });
  expect((await frozen.notes.get('n000000'))?.text).toBe('newer');
});

test('a state that another tab puts just before the merge does not stay among the rows', async () => {
  lockForAll();
  const source = new NoteSource();
  source.add(10);
  const storage = memory();
  const [one, two] = [await openNotes(storage), await openNotes(storage)];
  const merge = one.branches.merge.bind(one);
  let merges = 0;
  one.branches.merge = async (...given: Parameters<typeof merge>) => {
    merges += 1;
    // Twice, each time with a new state: the merge finds the first state deleted here and changed there.
    if (merges <= 2) {
      source.notes.set(`more-${merges}`, { id: `more-${merges}`, text: 'meanwhile' });
      const stop = new AbortController();
      const cut = importFrom(source, two.notes, {
        signal: stop.signal,
        onProgress: () => stop.abort(),
      });
      await expect(cut).rejects.toMatchObject({ code: 'aborted' });
    }
    return merge(...given);
  };
  const result = await importFrom(source, one.notes);
  expect([merges, result.status, result.rows]).toEqual([3, 'imported', 12]);
  const only = await openNotes();
  await only.notes.putMany(source.rows);
  expect(one.root).toBe(only.root);
});

test('a tab that merges while another one reports its end merges only rows', async () => {
  lockForAll();
  const source = new NoteSource();
  source.add(10);
  const storage = memory();
  const [one, two] = [await openNotes(storage), await openNotes(storage)];
  const [mergeOne, mergeTwo] = [one.branches.merge.bind(one), two.branches.merge.bind(two)];
  let late: ReturnType<typeof importFrom> | undefined;
  let isAtMerge = () => {};
  const atMerge = new Promise<void>((resolve) => {
    isAtMerge = resolve;
  });
  let isDone = () => {};
  const done = new Promise<void>((resolve) => {
    isDone = resolve;
  });
  two.branches.merge = async (...given: Parameters<typeof mergeTwo>) => {
    isAtMerge();
    await done;
    return mergeTwo(...given);
  };
  one.branches.merge = async (...given: Parameters<typeof mergeOne>) => {
    const merged = await mergeOne(...given);
    late = importFrom(source, two.notes);
    await atMerge;
    return merged;
  };
  expect((await importFrom(source, one.notes)).status).toBe('imported');
  isDone();
  expect((await late)?.status).toBe('already');
  const fresh = await openNotes(storage);
  const only = await openNotes();
  await only.notes.putMany(source.rows);
  expect(fresh.root).toBe(only.root);
});

test('a tab that was overtaken while it read ahead loses no rows, also without the check', async () => {
  lockForAll();
  const all = new NoteSource();
  all.add(600, 4000);
  let goOn = () => {};
  const isOvertaken = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const source = fromEntries({
    name: 'slow',
    async *entries() {
      for (const [at, row] of all.rows.entries()) {
        if (at >= 300) {
          await isOvertaken;
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        yield [row.id, row] as const;
      }
    },
  });
  const storage = memory();
  const [frozen, other] = [await openNotes(storage), await openNotes(storage)];
  let isFirst = true;
  const late = await importFrom(source, frozen.notes, {
    verify: false,
    map: async (note) => {
      if (!isFirst) return note;
      isFirst = false;
      const stop = new AbortController();
      const cut = importFrom(source, other.notes, {
        signal: stop.signal,
        onProgress: () => stop.abort(),
      });
      await expect(cut).rejects.toMatchObject({ code: 'aborted' });
      // The rows that it reads ahead have not arrived when it notices.
      goOn();
      return note;
    },
  });
  expect(late).toMatchObject({ status: 'imported', rows: 600 });
  expect(await frozen.notes.toArray()).toEqual(all.rows);
});

test('an import begins again, without the rows of the app, after another tab has deleted its branch', async () => {
  const source = new NoteSource();
  source.add(10);
  const storage = memory();
  const [one, two] = [await openNotes(storage), await openNotes(storage)];
  const { branch } = await importFrom(source, one.notes);
  const own: Note = { id: 'zz-own', text: 'of the new app' };
  await one.notes.put(own);
  // This tab asked just before: no lock prevents the deletion in between.
  const before = await two.branches.list();
  two.branches.list = async () => before;
  await one.branches.delete(branch);
  expect(await importFrom(source, two.notes)).toMatchObject({ status: 'imported', rows: 10 });
  expect(await two.notes.toArray()).toEqual([...source.rows, own]);
});
