/** Imports that are cut off anywhere, or meet a source that changes. */
import { expect, test } from 'vitest';
import { memory, open, rowType, type Storage, table } from '../../hedgerow/src/index.js';
import { kindOf } from '../../hedgerow/test/support/error-kind.js';
import { forSeeds } from '../../hedgerow/test/support/property.js';
import { fromEntries, type ImportFromProgress, importFrom } from '../src/index.js';
import { type Note, NoteSource } from './import-from-source.js';

const notes = table({ schema: rowType<Note>(), key: 'id', indexes: { byKind: ['kind'] } });
const openNotes = (storage: Storage = memory()) => open('app', { storage, tables: { notes } });

test('an import resumes behind its last written batch, and shows no rows before its end', async () => {
  const source = new NoteSource();
  source.add(2000, 4000);
  const db = await openNotes();
  const stop = new AbortController();
  const first: ImportFromProgress[] = [];
  const cut = importFrom(source, db.notes, {
    signal: stop.signal,
    onProgress: (progress) => {
      first.push(progress);
      if (progress.done > 1000) stop.abort();
    },
  });
  await expect(cut).rejects.toMatchObject({ code: 'aborted' });
  expect([await db.notes.count(), db.root]).toEqual([0, (await openNotes()).root]);
  let mapped = 0;
  const second: ImportFromProgress[] = [];
  const result = await importFrom(source, db.notes, {
    verify: false,
    map: (note) => {
      mapped += 1;
      return note;
    },
    onProgress: (progress) => void second.push(progress),
  });
  expect(first.length).toBeGreaterThan(2);
  expect(second[0]?.done).toBeGreaterThan(first.at(-1)?.done ?? 0);
  expect(mapped).toBe(2000 - (first.at(-1)?.done ?? 0));
  expect(result).toMatchObject({ status: 'imported', rows: 2000, applied: 2000, verified: false });
  expect(await db.notes.toArray()).toEqual(source.rows);
  expect(source.opened).toBe(0);
});

test('an import that is cut off at random makes both sides equal in the end, whatever changes', async () => {
  await forSeeds(25, async (from, _, begin) => {
    const source = new NoteSource();
    source.add(10 + from.below(700), from.pick([20, 3000, 9000]));
    const storage = memory();
    const reference = await openNotes();
    // A row of another table's prefix, and one that only the new app has.
    const own: Note = { id: 'zz-own', text: 'of the new app' };
    let db = await openNotes(storage);
    await db.put('other/1', { a: 1 });
    await db.notes.put(own);
    let commits = 0;
    let stopWatching = () => {};
    const watch = () => {
      stopWatching = db.watch({ prefix: 'notes/' }, () => {
        commits += 1;
      });
    };
    watch();
    let changes = from.below(3);
    let isChanging = false;
    const change = () => {
      if (changes === 0) return;
      changes -= 1;
      isChanging = true;
      const id = `n${String(from.below(source.notes.size + 5)).padStart(6, '0')}`;
      if (from.next() < 0.4) source.notes.delete(id);
      else source.notes.set(id, { id, text: `changed ${from.below(1e6)}` });
    };
    const verify = from.next() < 0.7;
    let done: Awaited<ReturnType<typeof importFrom>> | undefined;
    for (let cuts = from.below(6); done === undefined; cuts--) {
      // A change during the last call may come too late for it.
      isChanging = false;
      const stop = new AbortController();
      const how = from.pick(['abort', 'close', 'fail'] as const);
      let left = cuts > 0 ? 1 + from.below(60) : Number.POSITIVE_INFINITY;
      const step = () => {
        left -= from.below(10);
        if (from.next() < 0.05) change();
        if (left > 0) return undefined;
        left = Number.POSITIVE_INFINITY;
        if (how === 'abort') stop.abort();
        else if (how === 'close') void db.close();
        else throw new RangeError('cut');
      };
      source.onRead = step;
      begin({ how, left, cuts, verify });
      try {
        done = await importFrom<Note, string, Note>(source, db.notes, {
          verify,
          signal: stop.signal,
          onProgress: () => {
            if (how !== 'fail') step();
          },
          map: (note) => {
            if (from.next() < 0.02) step();
            return note;
          },
        });
      } catch (cause) {
        const code = cause instanceof RangeError ? 'cut' : kindOf(cause);
        expect(['cut', 'aborted', 'closed']).toContain(code);
      }
      if (how === 'close') {
        stopWatching();
        await db.close();
        db = await openNotes(storage);
        watch();
      }
    }
    source.onRead = () => {};
    const told = [done.status, done.rows, await db.notes.count()];
    begin({ done });
    if (done.verified && !isChanging) {
      expect(await db.notes.toArray()).toEqual([...source.rows, own]);
      expect(told).toEqual([done.status, source.notes.size, source.notes.size + 1]);
    }
    const again = await importFrom(source, db.notes, { again: true });
    expect(again).toMatchObject({ rows: source.notes.size, verified: true, conflicts: 0 });
    expect(again.changedMeanwhile).toBe(0);
    if (done.verified && !isChanging) expect(again.applied).toBe(0);
    expect(await db.notes.toArray()).toEqual([...source.rows, own]);
    expect(commits).toBeLessThanOrEqual(2);
    await reference.notes.putMany([...source.rows, own]);
    await reference.put('other/1', { a: 1 });
    expect(db.root).toBe(reference.root);
    expect(source.opened).toBe(0);
    stopWatching();
    await Promise.all([db.close(), reference.close()]);
  });
});

test('an import cut off in each phase, by a signal and with its store, ends with the same rows', async () => {
  for (const phase of ['reading', 'verifying', 'merging']) {
    for (const how of ['abort', 'close']) {
      const source = new NoteSource();
      source.add(600, 4000);
      const storage = memory();
      let db = await openNotes(storage);
      const stop = new AbortController();
      let isCut = false;
      const cut = importFrom(source, db.notes, {
        signal: stop.signal,
        onProgress: (progress) => {
          if (isCut || progress.phase !== phase) return;
          isCut = true;
          if (how === 'abort') stop.abort();
          else void db.close();
        },
      });
      const error = await cut.then(
        () => undefined,
        (cause) => cause,
      );
      expect([phase, how, isCut, ['aborted', 'closed'].includes(error?.code)]).toEqual([
        ...[phase, how, true, true],
      ]);
      await db.close();
      db = await openNotes(storage);
      expect(await db.notes.count()).toBe(0);
      const result = await importFrom(source, db.notes);
      expect(result).toMatchObject({ status: 'imported', rows: 600, applied: 600, verified: true });
      expect(await db.notes.toArray()).toEqual(source.rows);
      await db.close();
    }
  }
});

test('an import brings in and counts the rows that the old app changes, adds and deletes while it runs', async () => {
  const source = new NoteSource();
  source.add(600, 4000);
  const db = await openNotes();
  let isChanged = false;
  const result = await importFrom(source, db.notes, {
    onProgress: ({ phase }) => {
      if (isChanged || phase !== 'reading') return;
      isChanged = true;
      // Behind the place where it reads.
      source.notes.set('n000000', { id: 'n000000', text: 'changed' });
      source.notes.set('a', { id: 'a', text: 'new' });
      source.notes.delete('n000001');
    },
  });
  expect(result).toMatchObject({ rows: 600, changedMeanwhile: 3, verified: true, applied: 600 });
  expect(await db.notes.toArray()).toEqual(source.rows);
});

test('a source that has become empty deletes no rows', async () => {
  const source = new NoteSource();
  source.add(20);
  const db = await openNotes();
  await importFrom(source, db.notes);
  source.notes.clear();
  expect(await importFrom(source, db.notes, { again: true })).toMatchObject({ status: 'absent' });
  expect(await db.notes.count()).toBe(20);
  source.add(3);
  const again = await importFrom(source, db.notes, { again: true });
  expect(again).toMatchObject({ status: 'imported', rows: 3, applied: 17, verified: true });
  expect(await db.notes.toArray()).toEqual(source.rows);
});

test('a source that cannot count its records deletes no rows', async () => {
  let rows: Note[] = [{ id: 'a', text: '1' }];
  const source = fromEntries({
    name: 'stream',
    async *entries() {
      for (const row of rows) yield [row.id, row] as const;
    },
  });
  const db = await openNotes();
  await importFrom(source, db.notes);
  rows = [];
  expect(await importFrom(source, db.notes, { again: true })).toMatchObject({ status: 'absent' });
  expect(await db.notes.count()).toBe(1);
});

test('an entry that fails to close does not end an import', async () => {
  for (const isAsync of [true, false]) {
    let ends = 0;
    const fail = () => {
      ends += 1;
      throw new Error('not let go of');
    };
    const one = ['a', { id: 'a', text: '1' }] as const;
    const iterator = isAsync
      ? { next: async () => ({ done: false, value: one }), return: async () => fail() }
      : { next: () => ({ done: false, value: one }), return: fail };
    const entries = () =>
      (isAsync
        ? { [Symbol.asyncIterator]: () => iterator }
        : { [Symbol.iterator]: () => iterator }) as AsyncIterable<typeof one>;
    const db = await openNotes();
    const own = new RangeError('not this one');
    const call = importFrom(fromEntries({ name: `${isAsync}`, entries }), db.notes, {
      map: () => {
        throw own;
      },
    });
    await expect(call).rejects.toBe(own);
    expect(ends).toBe(1);
  }
});

test('an import ends although an app writes all the time', async () => {
  const source = new NoteSource();
  source.add(50);
  let count = 0;
  source.onRead = () => {
    count += 1;
    source.notes.set('n000007', { id: 'n000007', text: `${count}` });
  };
  const db = await openNotes();
  const result = await importFrom(source, db.notes);
  expect(result).toMatchObject({ status: 'imported', rows: 50, verified: false });
  expect(result.changedMeanwhile).toBeGreaterThan(1);
  // A source whose record count changes at each read.
  source.onRead = () => {
    count += 1;
    if (count % 2) source.notes.delete('n000003');
    else source.notes.set('n000003', { id: 'n000003', text: 'again' });
  };
  // The import ends or rejects, and another call completes it.
  await importFrom(source, db.notes, { again: true }).catch((cause) => {
    expect(cause.code).toBe('conflict');
  });
  source.onRead = () => {};
  const last = await importFrom(source, db.notes, { again: true });
  expect(last.verified).toBe(true);
  expect(await db.notes.toArray()).toEqual(source.rows);
});

test('a resumed import compares its rows again', async () => {
  const source = new NoteSource();
  source.add(900, 4000);
  const db = await openNotes();
  const stop = new AbortController();
  const onProgress = ({ phase, done }: ImportFromProgress) => {
    if (phase === 'verifying' && done > 100) stop.abort();
  };
  const cut = importFrom(source, db.notes, { signal: stop.signal, onProgress });
  await expect(cut).rejects.toMatchObject({ code: 'aborted' });
  source.notes.set('n000000', { id: 'n000000', text: 'changed' });
  const result = await importFrom(source, db.notes);
  expect(result).toMatchObject({ rows: 900, changedMeanwhile: 1, verified: true });
  expect(await db.notes.toArray()).toEqual(source.rows);
});

test('a target on a branch has its own import', async () => {
  const source = new NoteSource();
  source.add(10);
  const db = await openNotes();
  const draft = await db.branches.open('draft');
  const first = await importFrom(source, draft.notes);
  expect([await draft.notes.count(), await db.notes.count()]).toEqual([10, 0]);
  const second = await importFrom(source, db.notes);
  expect([first.status, second.status]).toEqual(['imported', 'imported']);
  expect(first.branch).not.toBe(second.branch);
  expect(await db.notes.count()).toBe(10);
});
