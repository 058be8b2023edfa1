/** Live queries: the time of their reports, and the reads behind them. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HedgerowError } from '../../src/index.js';
import { type LiveSource, live, liveCount } from '../../src/live/index.js';
import { type Entry, failure } from '../support/models/store-model.js';
import { handles, rest, until, watches } from '../support/watching.js';
import { reads } from './counted-reads.js';
import { keyOf, keysOf, listened, range, rowsOf, storeOf } from './live-store.js';

vi.mock(import('../../src/live/read-synchronously.js'), async (original) => {
  const { counted } = await import('./counted-reads.js');
  return counted(await original());
});
beforeEach(() => Object.assign(reads, { count: 0, isCold: false }));
afterEach(() => void vi.restoreAllMocks());

describe('a live query', () => {
  it('shows another query by change, and keeps the rows until then', async () => {
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
    // The earlier rows do not come back.
    await db.put(keyOf(3), 'new');
    await db.put(keyOf(91), 'new');
    await until(() => heard.calls === 4);
    await rest();
    expect(heard.calls).toBe(4);
    await db.close();
    await until(() => shown.get().status === 'error');
    expect(keysOf(shown)).toEqual(range(90, 94));
  });

  it('begins once, also for a second listener, and ends a moment after the last', async () => {
    const db = await storeOf(10);
    const seen = watches(db);
    const [one, other] = [live(db, { limit: 3, gte: 'k' }), live(db, { gte: 'k', limit: 3 })];
    expect(seen.begun).toBe(0);
    const state = one.get();
    // As in StrictMode: before an effect, and after its cleanup.
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
    // The unchanged rows are the same objects.
    const last = one.get();
    expect(last.rows[2]).toEqual([keyOf(2), 'new']);
    const again = other.get();
    expect(again).toBe(last);
    expect(seen.now).toBe(1);
    await until(() => seen.now === 0);
    expect(one.get()).toBe(last);
    await db.close();
  });

  it('shares a watch with others of its range, once they meet at a commit', async () => {
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
    await until(() => seen.now === 1);
    expect(reads.count).toBe(5);
    await db.put(keyOf(12), 'new');
    await until(() => all[1]?.get().rows[2]?.[1] === 'new');
    expect(reads.count).toBe(5);
    await db.close();
  });

  it('shares rows only with queries of the same rowOf or name', async () => {
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

  it('shows the error of rowOf until the row changes', async () => {
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
    expect(shown.get()).toMatchObject({
      status: 'ready',
      rows: [1, 3],
      isStale: false,
      error: fault,
    });
    await db.put(keyOf(3), { at: 30 });
    await db.put(keyOf(2), { at: 20 });
    await until(() => shown.get().error === undefined);
    expect(shown.get()).toMatchObject({
      status: 'ready',
      rows: [1, 20, 30],
      isStale: false,
      error: undefined,
    });
    expect(made.length).toBe(6);
    // Or goes.
    await db.put(keyOf(2), { at: 200 });
    await until(() => shown.get().error === fault);
    await db.delete(keyOf(2));
    await until(() => shown.get().error === undefined);
    expect(shown.get().rows).toEqual([1, 30, 4]);
    await db.close();
  });

  it('reports the exceptions of a listener, and calls the others', async () => {
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

  it('that a listener or a render reads calls no other listeners during the read', async () => {
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

  it('reports that its branch was deleted, and goes on once it is there again', async () => {
    const db = await storeOf(5);
    const draft = await db.branches.open('draft');
    const [shown, count] = [live(draft, { limit: 3 }), liveCount(draft)];
    const heard = listened(shown);
    listened(count);
    await db.branches.delete('draft');
    await until(() => shown.get().status === 'error');
    expect(shown.get().error).toEqual(failure('not-found/branch'));
    expect(keysOf(shown)).toEqual(range(0, 3));
    expect(count.get()).toEqual({
      status: 'error',
      count: 5,
      isStale: false,
      error: shown.get().error,
    });
    const again = await db.branches.open('draft');
    await again.delete(keyOf(0));
    // They may be at different commits for a moment.
    await until(() => keysOf(shown)[0] === keyOf(1) && count.get().count === 4);
    expect(keysOf(shown)).toEqual(range(1, 4));
    expect(shown.get().status).toBe('ready');
    expect(heard.calls).toBeGreaterThan(1);
    await db.close();
  });

  it('reads again after failures, and after too many of them at the next subscription', async () => {
    const db = await storeOf(5);
    reads.isCold = true;
    const cause = new HedgerowError('unavailable/disconnected', 'a test');
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
    expect(other.get()).toMatchObject({ status: 'error', rows: [], isStale: false, error: damage });
    listened(other);
    await until(() => other.get().status === 'ready');
    await db.close();
  });

  it('of a closed store is an error, and keeps its rows when it is closed itself', async () => {
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

  it('takes many changes at once in slices, and reports them once', async () => {
    const [db, other] = await handles(2);
    const shown = live(db);
    const heard = listened(shown);
    await other.putMany(rowsOf(60_000));
    await until(() => shown.get().rows.length === 60_000);
    await rest();
    expect(heard.calls).toBe(1);
    expect(keysOf(shown)).toEqual((await db.scan().keys().toArray()) as string[]);
    // While it takes them, another query begins.
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
      // It begins while watches report.
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
