/** Live queries: what they show, when they tell of it, and what they read for that. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HedgerowError, memory, type OpenOptions, open, type Store } from '../src/index.js';
import { type LiveSource, live, liveCount, liveRow } from '../src/live/index.js';
import { type Entry, failure } from './model.js';
import { handles, rest, until, watches } from './watching.js';

/** Reads of memory, and whether they can be made. */
const reads = vi.hoisted(() => ({ count: 0, isCold: false }));
vi.mock('../src/live/now.js', async (original) => {
  const own = await original<typeof import('../src/live/now.js')>();
  const now: typeof own.now = (engine, op, answer) => {
    reads.count += 1;
    return own.now(engine, op, answer);
  };
  const isReadable: typeof own.isReadable = (...args) => !reads.isCold && own.isReadable(...args);
  return { now, isReadable };
});

beforeEach(() => Object.assign(reads, { count: 0, isCold: false }));
afterEach(() => void vi.restoreAllMocks());

const keyOf = (at: number) => `k${String(at).padStart(4, '0')}`;
const rowsOf = (count: number): Entry[] =>
  Array.from({ length: count }, (_, at) => [keyOf(at), { at, kind: at % 3 }]);

async function storeOf(count = 0, options: OpenOptions = {}): Promise<Store> {
  const db = await open('live', { storage: memory(), ...options });
  if (count > 0) await db.putMany(rowsOf(count));
  return db;
}

/** Counts the calls of a listener. */
function listened(shown: { subscribe(listener: () => void): () => void }) {
  const heard = { calls: 0, stop: () => {} };
  heard.stop = shown.subscribe(() => {
    heard.calls += 1;
  });
  return heard;
}

const keysOf = (shown: { get(): { rows: readonly unknown[] } }) =>
  shown.get().rows.map((row) => (row as [string])[0]);
const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => keyOf(from + at));

describe('the first value', () => {
  it('is there at once if it is in memory', async () => {
    const db = await storeOf(100, { indexes: { kind: { path: '/kind' } } });
    await db.count({ index: 'kind' });
    expect(live(db, { limit: 3 }).get()).toEqual({
      status: 'ready',
      rows: rowsOf(3),
      isStale: false,
      error: undefined,
    });
    const kinds = live(db, { index: 'kind', equals: 1, reverse: true, limit: 1 }).get();
    expect(kinds.rows).toEqual([[keyOf(97), { at: 97, kind: 1 }, 1]]);
    expect(liveRow(db, keyOf(5)).get()).toEqual({
      status: 'ready',
      value: { at: 5, kind: 2 },
      isStale: false,
      error: undefined,
    });
    expect(liveRow(db, 'none').get()).toMatchObject({ status: 'ready', value: undefined });
    expect(liveCount(db, { index: 'kind', equals: 1 }).get().count).toBe(33);
    await db.close();
  });

  it('waits for what the handle has put, and is loading until then', async () => {
    const db = await storeOf(3);
    const put = db.put(keyOf(0), 'new');
    const shown = live(db);
    expect(shown.get()).toEqual({ status: 'loading', rows: [], isStale: false, error: undefined });
    const told: unknown[] = [];
    shown.subscribe(() => told.push(shown.get().rows[0]));
    await put;
    await until(() => shown.get().status === 'ready');
    await rest();
    expect(told).toEqual([[keyOf(0), 'new']]);
    // In another range it waits for nothing.
    void db.put('z', 1);
    expect(live(db, { prefix: 'k' }).get().status).toBe('ready');
    await db.close();
  });

  it('is read from storage if it is not in memory, and from a snapshot while others write', async () => {
    const storage = { ...memory(), isShared: true };
    const writer = await open('cold', { storage });
    await writer.putMany(rowsOf(50_000));
    const db = await open('cold', { storage, cacheBytes: 0 });
    const shown = live(db, { limit: 30_000 });
    expect(shown.get().status).toBe('loading');
    const states: (readonly unknown[])[] = [];
    shown.subscribe(() => states.push(shown.get().rows));
    await writer.put(keyOf(7), 'new');
    await until(() => (shown.get().rows[7] as Entry | undefined)?.[1] === 'new');
    for (const rows of states) expect(rows.length).toBe(30_000);
    await Promise.all([db.close(), writer.close()]);
  });

  it('of an index waits until it is built', async () => {
    const storage = memory();
    const before = await storeOf(20_000, { storage });
    await before.close();
    const db = await open('live', { storage, indexes: { kind: { path: '/kind' } } });
    const shown = live(db, { index: 'kind', equals: 2, limit: 2 });
    const count = liveCount(db, { index: 'kind', equals: 2 });
    expect([shown.get().status, count.get().status]).toEqual(['loading', 'loading']);
    const heard = [listened(shown), listened(count)];
    await until(() => shown.get().status === 'ready' && count.get().status === 'ready');
    expect(keysOf(shown)).toEqual([keyOf(2), keyOf(5)]);
    expect(count.get().count).toBe(6666);
    expect(heard.map(({ calls }) => calls)).toEqual([1, 1]);
    await db.close();
  });

  it('waits for whenReady', async () => {
    const db = await storeOf(3);
    let ready = () => {};
    let isReady = false;
    const source: LiveSource<unknown> = {
      db,
      options: { limit: 2 },
      rowOf: (key) => key,
      whenReady: () =>
        isReady
          ? undefined
          : new Promise<void>((resolve) => {
              ready = resolve;
            }),
    };
    const shown = live({ source: () => source });
    expect(shown.get().status).toBe('loading');
    await rest();
    expect(shown.get().status).toBe('loading');
    isReady = true;
    ready();
    await until(() => shown.get().status === 'ready');
    expect(shown.get().rows).toEqual(range(0, 2));
    expect(live({ source: () => ({ ...source, options: { limit: 1 } }) }).get().rows).toEqual(
      range(0, 1),
    );
    await db.close();
  });
});

describe('a window', () => {
  it('is patched in place where that suffices, and else read by itself', async () => {
    const db = await storeOf(100);
    const snapshot = vi.spyOn(db, 'snapshot');
    const shown = live(db, { offset: 10, limit: 5 });
    const heard = listened(shown);
    const steps: [
      what: () => Promise<unknown>,
      keys: string[],
      isRead: boolean,
      isTold: boolean,
    ][] = [
      [() => db.put(keyOf(12), 'new'), range(10, 15), false, true],
      // Within: the last one leaves.
      [
        () => db.put(`${keyOf(11)}x`, 1),
        [...range(10, 12), `${keyOf(11)}x`, ...range(12, 14)],
        false,
        true,
      ],
      // Who takes the place of a deleted row is not known.
      [() => db.delete(`${keyOf(11)}x`), range(10, 15), true, true],
      [() => db.put(keyOf(3), 'new'), range(10, 15), false, false],
      [() => db.put(keyOf(50), 'new'), range(10, 15), false, false],
      [() => db.delete(keyOf(50)), range(10, 15), false, false],
      [() => db.put('a', 'before'), range(9, 14), true, true],
      [() => db.delete('a'), range(10, 15), true, true],
      // As many come as go before it.
      [
        () =>
          db.applyPatch([
            { op: 'del', key: keyOf(2) },
            { op: 'put', key: 'a', value: 1 },
          ]),
        range(10, 15),
        false,
        false,
      ],
      // The one that moves in was within, and one came: no row is missing.
      [
        () =>
          db.applyPatch([
            { op: 'del', key: 'a' },
            { op: 'put', key: `${keyOf(14)}-`, value: 1 },
            { op: 'put', key: `${keyOf(13)}x`, value: 1 },
          ]),
        [...range(11, 14), `${keyOf(13)}x`, keyOf(14)],
        false,
        true,
      ],
    ];
    for (const [at, [change, keys, isRead, isTold]] of steps.entries()) {
      const before = { rows: shown.get().rows, calls: heard.calls };
      reads.count = 0;
      await change();
      await until(
        () => keysOf(shown).join() === keys.join() && (!isTold || heard.calls > before.calls),
      );
      await rest();
      expect(heard.calls - before.calls, `step ${at}`).toBe(Number(isTold));
      expect(shown.get().rows === before.rows, `step ${at}`).toBe(!isTold);
      expect(reads.count, `step ${at}`).toBe(Number(isRead));
      for (const row of shown.get().rows) {
        const same = before.rows.find(([key, value]) => key === row[0] && value === row[1]);
        if (same) expect(before.rows, `step ${at}`).toContain(row);
      }
    }
    expect(snapshot).not.toHaveBeenCalled();
    await db.close();
  });

  it('that is not full, at the end, or beyond it, needs a read only once something comes', async () => {
    const db = await storeOf(10);
    const last = live(db, { offset: 8, limit: 5 });
    const beyond = live(db, { offset: 12, limit: 2, reverse: true });
    const none = live(db, { limit: 0 });
    const heard = [last, beyond, none].map(listened);
    reads.count = 0;
    await db.put(keyOf(10), 1);
    await until(() => last.get().rows.length === 3);
    await db.delete(keyOf(8));
    await until(() => last.get().rows.length === 2);
    // Of the empty one only: it might be filled.
    expect(reads.count).toBe(1);
    await db.putMany(rowsOf(16).slice(10));
    await until(() => beyond.get().rows.length === 2 && last.get().rows.length === 5);
    expect(keysOf(beyond)).toEqual([keyOf(2), keyOf(1)]);
    expect(keysOf(last)).toEqual([keyOf(9), ...range(10, 14)]);
    expect(none.get().rows).toEqual([]);
    expect(heard.map(({ calls }) => calls)).toEqual([3, 1, 0]);
    await db.close();
  });

  it('on an index follows entries, of rows with several of them, too', async () => {
    const db = await storeOf(0, { indexes: { tags: { path: ['/tags', '/n'] } } });
    await db.putMany([
      ['a', { tags: ['x', 'y'], n: 1 }],
      ['b', { tags: ['y'], n: 2 }],
      ['c', { tags: ['y', 'z'], n: 0 }],
    ]);
    const shown = live<{ n: number }>(db, { index: 'tags', offset: 1, limit: 3 });
    const entries = () => shown.get().rows.map(([key, { n }, secondary]) => [key, n, secondary]);
    expect(entries()).toEqual([
      ['c', 0, ['y', 0]],
      ['a', 1, ['y', 1]],
      ['b', 2, ['y', 2]],
    ]);
    const { rows } = shown.get();
    const heard = listened(shown);
    reads.count = 0;
    // One entry of `a` is before the window, one within.
    await db.put('a', { tags: ['x', 'y'], n: -1 });
    await until(() => heard.calls === 1);
    expect(entries()).toEqual([
      ['a', -1, ['y', -1]],
      ['c', 0, ['y', 0]],
      ['b', 2, ['y', 2]],
    ]);
    expect(reads.count).toBe(1);
    expect(shown.get().rows.slice(1)).toEqual([rows[0], rows[2]]);
    expect(shown.get().rows[2]).toBe(rows[2]);
    await db.put('a', { tags: ['x', 'y'], n: 1 });
    await until(() => heard.calls === 2);
    expect(entries()[1]).toEqual(['a', 1, ['y', 1]]);
    expect(shown.get().rows[2]).toBe(rows[2]);
    expect(reads.count).toBe(1);
    await db.put('a', { tags: ['y'], n: 3 });
    await until(() => heard.calls === 3);
    expect(entries()).toEqual([
      ['b', 2, ['y', 2]],
      ['a', 3, ['y', 3]],
      ['c', 0, ['z', 0]],
    ]);
    // After a position of the index.
    const after = live(db, { index: 'tags', after: [['y', 2], 'b'], limit: 5 });
    listened(after);
    expect(keysOf(after)).toEqual(['a', 'c']);
    await db.put('b', { tags: ['y'], n: 2, more: 1 });
    await db.put('a0', { tags: ['y'], n: 2.5 });
    await until(() => keysOf(after).join() === 'a0,a,c');
    await db.close();
  });

  it('of 300 on as many ranges, or in one, is the only one that is called', async () => {
    const db = await storeOf(3000);
    for (const inOneRange of [false, true]) {
      const all = Array.from({ length: 300 }, (_, at) =>
        live(db, {
          ...(inOneRange ? { offset: 10 * at } : { gte: keyOf(10 * at), lt: keyOf(10 * at + 10) }),
          limit: 5,
          reverse: false,
        }),
      );
      const heard = all.map(listened);
      reads.count = 0;
      for (const at of [0, 7, 150, 299]) {
        await db.put(keyOf(10 * at + 3), { at, inOneRange });
        await until(() => heard[at]?.calls === 1);
      }
      await rest();
      expect(heard.reduce((sum, { calls }) => sum + calls, 0)).toBe(4);
      expect(reads.count).toBe(0);
      // Only those behind are shifted.
      if (inOneRange) {
        await db.put(`${keyOf(1496)}x`, 1);
        await until(() => heard.slice(150).every(({ calls }) => calls > 0));
        await rest();
        expect(heard.slice(0, 150).reduce((sum, { calls }) => sum + calls, 0)).toBe(2);
        expect(reads.count).toBe(150);
      }
      for (const one of all) one.close();
    }
    await db.close();
  });
});

describe('a live query', () => {
  it('shows another one by change, and keeps the rows until then', async () => {
    const db = await storeOf(100);
    const shown = live(db, { offset: 0, limit: 4 });
    const heard = listened(shown);
    const { rows } = shown.get();
    // From memory, at once; rows of both are the same objects.
    shown.change(db, { offset: 2, limit: 4 });
    expect(keysOf(shown)).toEqual(range(2, 6));
    expect(shown.get().rows.slice(0, 2)).toEqual(rows.slice(2));
    expect(shown.get().rows[0]).toBe(rows[2]);
    expect(shown.get().isStale).toBe(false);
    expect(heard.calls).toBe(1);
    const again = shown.get();
    shown.change(db, { limit: 4, offset: 2 });
    expect(shown.get()).toBe(again);
    expect(heard.calls).toBe(1);

    reads.isCold = true;
    shown.change(db, { offset: 90, limit: 4 });
    const stale = shown.get();
    expect(stale).toEqual({ ...again, isStale: true });
    expect(stale.rows).toBe(again.rows);
    expect(shown.get()).toBe(stale);
    expect(heard.calls).toBe(2);
    await until(() => !shown.get().isStale);
    expect(keysOf(shown)).toEqual(range(90, 94));
    expect(heard.calls).toBe(3);
    // What was shown before does not come back.
    await db.put(keyOf(3), 'new');
    await db.put(keyOf(91), 'new');
    await until(() => heard.calls === 4);
    await rest();
    expect(heard.calls).toBe(4);
    await db.close();
    await until(() => shown.get().status === 'error');
    expect(keysOf(shown)).toEqual(range(90, 94));
  });

  it('begins once, also for who subscribes again, and ends a moment after the last', async () => {
    const db = await storeOf(10);
    const seen = watches(db);
    const [one, other] = [live(db, { limit: 3, gte: 'k' }), live(db, { gte: 'k', limit: 3 })];
    expect(seen.begun).toBe(0);
    const state = one.get();
    // As in StrictMode: before an effect, and after it was undone.
    one.subscribe(() => {})();
    const heard = [listened(one), listened(other)];
    expect([reads.count, seen.begun]).toEqual([1, 1]);
    expect(one.get()).toBe(state);
    expect(other.get()).toBe(state);
    await db.put(keyOf(1), 'new');
    await until(() => heard.every(({ calls }) => calls === 1));
    heard[0]?.stop();
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(seen.now).toBe(1);
    heard[1]?.stop();
    heard[1]?.stop();
    await until(() => seen.now === 0);
    await db.put(keyOf(2), 'new');
    // The rows that are still the same are the same objects.
    const last = one.get();
    expect(last.rows[2]).toEqual([keyOf(2), 'new']);
    const again = other.get();
    expect(again).toBe(last);
    expect(seen.now).toBe(1);
    await until(() => seen.now === 0);
    expect(one.get()).toBe(last);
    await db.close();
  });

  it('has a watch with others of its range, once they meet at a commit', async () => {
    const db = await storeOf(100);
    const seen = watches(db);
    const all: ReturnType<typeof live>[] = [];
    for (let at = 0; at < 5; at++) {
      all.push(live(db, { prefix: 'k', offset: 10 * at, limit: 3 }));
      listened(all[at] as (typeof all)[0]);
      // Elsewhere.
      await db.put('a', at);
    }
    await rest();
    expect(seen.now).toBe(5);
    await db.put(keyOf(41), 'new');
    await until(() => all[4]?.get().rows[1]?.[1] === 'new');
    await rest();
    expect(seen.now).toBe(1);
    expect(reads.count).toBe(5);
    await db.put(keyOf(12), 'new');
    await until(() => all[1]?.get().rows[2]?.[1] === 'new');
    expect(reads.count).toBe(5);
    await db.close();
  });

  it('shares rows only with those made in the same way', async () => {
    const db = await storeOf(10);
    const rowOf = (key: string) => ({ key });
    const made = (rowOf: LiveSource<object>['rowOf'], name?: string) =>
      live({ source: () => ({ db, options: { limit: 1 }, rowOf, name }) });
    const rows = [
      made(rowOf),
      made(rowOf),
      made((key) => ({ key })),
      made((key) => ({ key }), 'named'),
      made((key) => ({ key }), 'named'),
    ].map((one) => one.get().rows);
    expect(rows[1]).toBe(rows[0]);
    expect(rows[2]).not.toBe(rows[0]);
    expect(rows[3]).not.toBe(rows[0]);
    expect(rows[4]).toBe(rows[3]);
    await db.close();
  });

  it('tells the error of rowOf until the row changes', async () => {
    const db = await storeOf(5);
    const fault = new Error('too large');
    const made: string[] = [];
    const shown = live<number>({
      source: () => ({
        db,
        options: { offset: 1, limit: 3 },
        rowOf: (key, value) => {
          made.push(key);
          const { at } = value as { at: number };
          if (at > 100) throw fault;
          return at;
        },
      }),
    });
    const heard = listened(shown);
    const { rows } = shown.get();
    expect(rows).toEqual([1, 2, 3]);
    await db.put(keyOf(2), { at: 200 });
    await until(() => heard.calls === 1);
    expect(shown.get()).toEqual({ status: 'error', rows, isStale: false, error: fault });
    expect(shown.get().rows).toBe(rows);
    await db.put(keyOf(3), { at: 30 });
    await db.put(keyOf(2), { at: 20 });
    await until(() => shown.get().status === 'ready');
    expect(shown.get()).toEqual({
      status: 'ready',
      rows: [1, 20, 30],
      isStale: false,
      error: undefined,
    });
    expect(made.length).toBe(6);
    // Or goes.
    await db.put(keyOf(2), { at: 200 });
    await until(() => shown.get().status === 'error');
    await db.delete(keyOf(2));
    await until(() => shown.get().status === 'ready');
    expect(shown.get().rows).toEqual([1, 30, 4]);
    await db.close();
  });

  it('reports what a listener throws, and calls the others', async () => {
    const db = await storeOf(5);
    const report = vi.spyOn(console, 'error').mockImplementation(() => {});
    const shown = live(db);
    shown.subscribe(() => {
      throw new Error('a bug');
    });
    const heard = listened(shown);
    await db.put('a', 1);
    await until(() => heard.calls === 1);
    await db.put('a', 2);
    await until(() => heard.calls === 2);
    expect(report).toHaveBeenCalledTimes(2);
    await db.close();
  });

  it('that is read by a listener, or in a render, calls no other listeners meanwhile', async () => {
    const db = await storeOf(9);
    const shown = [live(db, { limit: 2 }), live(db, { limit: 1, offset: 1 })];
    let isReading = false;
    const within: boolean[] = [];
    const counts: number[] = [];
    for (const [at, one] of shown.entries()) {
      one.subscribe(() => {
        within.push(isReading);
        isReading = true;
        counts.push(live(db, { limit: 3 + at }).get().rows.length);
        isReading = false;
      });
    }
    await db.put(keyOf(1), 'new');
    await until(() => within.length === 2);
    expect(within).toEqual([false, false]);
    expect(counts.sort()).toEqual([3, 4]);
    await db.close();
  });

  it('tells that its branch was deleted, and goes on once there is one again', async () => {
    const db = await storeOf(5);
    const draft = await db.branch('draft');
    const [shown, count] = [live(draft, { limit: 3 }), liveCount(draft)];
    const heard = listened(shown);
    listened(count);
    await db.deleteBranch('draft');
    await until(() => shown.get().status === 'error');
    expect(shown.get().error).toEqual(failure('branch-not-found'));
    expect(keysOf(shown)).toEqual(range(0, 3));
    expect(count.get()).toEqual({
      status: 'error',
      count: 5,
      isStale: false,
      error: shown.get().error,
    });
    const again = await db.branch('draft');
    await again.delete(keyOf(0));
    // They may be at different commits for a moment.
    await until(() => keysOf(shown)[0] === keyOf(1) && count.get().count === 4);
    expect(keysOf(shown)).toEqual(range(1, 4));
    expect(shown.get().status).toBe('ready');
    expect(heard.calls).toBeGreaterThan(1);
    await db.close();
  });

  it('reads again what could not be read, and after too many failures when somebody subscribes', async () => {
    const db = await storeOf(5);
    reads.isCold = true;
    const cause = new HedgerowError('disconnected', 'a test');
    const snapshot = vi.spyOn(db, 'snapshot').mockImplementationOnce(() => {
      throw cause;
    });
    const shown = live(db);
    listened(shown);
    await until(() => snapshot.mock.calls.length === 1);
    expect(shown.get().status).toBe('loading');
    await until(() => shown.get().status === 'ready');
    const damage = new HedgerowError('corrupt-chunk', 'a test');
    snapshot.mockImplementationOnce(() => {
      throw damage;
    });
    const other = live(db, { limit: 1 });
    const heard = listened(other);
    await until(() => heard.calls === 1);
    expect(other.get()).toEqual({ status: 'error', rows: [], isStale: false, error: damage });
    listened(other);
    await until(() => other.get().status === 'ready');
    await db.close();
  });

  it('of a closed store is an error; closed itself it shows what it showed', async () => {
    const db = await storeOf(5);
    const [shown, closed] = [live(db, { limit: 1 }), live(db, { limit: 2 })];
    const heard = listened(closed);
    const { rows } = closed.get();
    closed.close();
    closed.close();
    await db.put(keyOf(0), 'new');
    await until(() => (shown.get().rows[0] as Entry)[1] === 'new');
    expect([closed.get().rows, heard.calls]).toEqual([rows, 0]);
    expect(() => closed.subscribe(() => {})).toThrow(failure('closed'));
    expect(() => closed.change(db)).toThrow(failure('closed'));
    const disposed = live(db);
    disposed[Symbol.dispose ?? (Symbol.for('Symbol.dispose') as never)]();
    expect(() => disposed.subscribe(() => {})).toThrow(failure('closed'));
    await db.close();
    await until(() => shown.get().status === 'error');
    expect(live(db).get()).toMatchObject({ status: 'error', rows: [], error: failure('closed') });
  });

  it('takes many changes at once in slices, and tells of them once', async () => {
    const [db, other] = await handles(2);
    const shown = live(db);
    const heard = listened(shown);
    await other.putMany(rowsOf(60_000));
    await until(() => shown.get().rows.length === 60_000);
    await rest();
    expect(heard.calls).toBe(1);
    expect(keysOf(shown)).toEqual((await db.scan().keys().toArray()) as string[]);
    // While it takes them, somebody else begins.
    await until(() => other.root === db.root);
    const clearing = other.deleteMany({ gte: keyOf(10), lt: 'k5' });
    const late = live(db, { offset: 5, limit: 8 });
    listened(late);
    await clearing;
    await until(() => other.root === db.root);
    const keys = () => db.scan().keys().toArray();
    const all = await keys();
    await until(() => shown.get().rows.length === all.length);
    expect(keysOf(shown)).toEqual(all);
    await until(() => keysOf(late).join() === all.slice(5, 13).join());
    await Promise.all([db.close(), other.close()]);
  });

  it('comes to rest at the head, however busy the writers are', async () => {
    const [db, other] = await handles(2);
    await db.putMany(rowsOf(200));
    await until(() => other.root === db.root);
    const all = Array.from({ length: 40 }, (_, at) =>
      live(db, { offset: 4 * at, limit: 4, reverse: at % 2 === 0 }),
    );
    for (const one of all) listened(one);
    for (let round = 0; round < 30; round++) {
      await Promise.all(
        Array.from({ length: 6 }, (_, at) => {
          const by = at % 2 === 0 ? db : other;
          const key = `${keyOf((round * 37 + at * 11) % 200)}${at % 3 ? '' : 'x'}`;
          return round % 2 ? by.delete(key) : by.put(key, { round });
        }),
      );
      // Begins while watches are being told.
      if (round % 5 === 0) all.push(live(db, { offset: round, limit: 3, gte: keyOf(round) }));
      listened(all.at(-1) as (typeof all)[0]);
    }
    await until(() => other.root === db.root);
    const shown = await db.scan().toArray();
    for (const [at, one] of all.slice(0, 40).entries()) {
      const ordered = at % 2 === 0 ? shown.toReversed() : shown;
      const expected = ordered.slice(4 * at, 4 * at + 4).map(([key]) => key);
      await until(() => keysOf(one).join() === expected.join());
      expect(one.get().rows).toEqual(ordered.slice(4 * at, 4 * at + 4));
    }
    await Promise.all([db.close(), other.close()]);
  });
});

describe('a live row', () => {
  it('is what the row is, and changes to another', async () => {
    const db = await storeOf(5);
    const shown = liveRow(db, keyOf(1));
    const heard = listened(shown);
    const { value } = shown.get();
    await db.put(keyOf(2), 'other');
    await db.delete(keyOf(1));
    await until(() => heard.calls === 1);
    expect(value).toEqual({ at: 1, kind: 1 });
    expect(shown.get()).toMatchObject({ status: 'ready', value: undefined });
    reads.isCold = true;
    shown.change(db, keyOf(2));
    expect(shown.get()).toMatchObject({ status: 'ready', value: undefined, isStale: true });
    await until(() => !shown.get().isStale);
    expect(shown.get().value).toBe('other');
    const named = liveRow(db, keyOf(2), (key, value) => `${key}: ${value}`);
    listened(named);
    await until(() => named.get().value === `${keyOf(2)}: other`);
    await db.close();
  });
});

describe('a live count', () => {
  it('follows a range, an index, and a query, without a read of rows', async () => {
    const db = await storeOf(90, { indexes: { kind: { path: '/kind' } } });
    await db.count({ index: 'kind' });
    const query = { source: () => ({ db, options: { gt: keyOf(9), limit: 3 }, rowOf: () => 1 }) };
    const counts = [
      liveCount(db),
      liveCount(db, { prefix: 'k000' }),
      liveCount(db, { index: 'kind', equals: 0 }),
      liveCount(query),
    ];
    const told = counts.map(listened);
    const now = () => counts.map((one) => one.get().count);
    expect(now()).toEqual([90, 10, 30, 80]);
    const state = counts[1]?.get();
    reads.count = 0;
    await db.put(keyOf(50), { kind: 0 });
    await until(() => counts[2]?.get().count === 31);
    await db.put(keyOf(1), { kind: 1, more: 1 });
    await db.deleteMany({ gte: keyOf(20), lt: keyOf(40) });
    await until(() => counts[3]?.get().count === 60);
    await until(() => counts[2]?.get().count === 24);
    expect(now()).toEqual([70, 10, 24, 60]);
    expect(counts[1]?.get()).toBe(state);
    expect(told.map(({ calls }) => calls)).toEqual([1, 0, 2, 1]);
    expect(reads.count).toBe(0);
    counts[0]?.change(db, { lt: keyOf(5) });
    expect(counts[0]?.get().count).toBe(5);
    counts[0]?.change(query);
    expect(counts[0]?.get()).toBe(counts[3]?.get());
    reads.isCold = true;
    const cold = liveCount(db, { lt: keyOf(7) });
    listened(cold);
    expect(cold.get()).toEqual({
      status: 'loading',
      count: undefined,
      isStale: false,
      error: undefined,
    });
    await until(() => cold.get().count === 7);
    await db.close();
  });
});

it('refuses bad arguments', async () => {
  const db = await storeOf(1);
  const refused: [call: () => unknown, message: RegExp, code?: HedgerowError['code']][] = [
    [() => live(undefined as never), /live takes a store.* not undefined/],
    [() => live(db.snapshot() as never), /live takes a store.* not Snapshot/],
    [() => live(db, { limit: -1 }), /live: limit/],
    [() => live(db, { first: 1 } as never), /live takes no first/],
    [() => live(db, { index: 'none' }), /none/],
    [() => live(db, { gt: 'a', gte: 'a' }), /one of gt and gte/],
    [() => live(db, { signal: new AbortController().signal } as never), /takes no signal/],
    [() => live({ source: () => ({ db, options: {}, rowOf: 1 as never }) }), /rowOf/],
    [() => liveRow(db, 1 as never), /liveRow: the key is not a string/, 'invalid-key'],
    [() => liveRow(db, undefined as never), /liveRow: the key/, 'invalid-key'],
    [() => liveCount(db, { limit: 1 } as never), /liveCount takes no limit/],
  ];
  for (const [call, message, code = 'invalid-argument'] of refused) {
    expect(call, `${message}`).toThrow(failure(code));
    expect(call, `${message}`).toThrow(message);
  }
  const shown = live(db);
  const state = shown.get();
  expect(() => shown.change(db, { limit: 0.5 })).toThrow(failure('invalid-argument'));
  expect(shown.get()).toBe(state);
  await db.close();
});
