/** The first values of live queries, live rows and live counts. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ErrorKind } from '../../src/base/errors.js';
import { memory, open } from '../../src/index.js';
import { type LiveSource, live, liveCount, liveRow } from '../../src/live/index.js';
import { type Entry, failure } from '../support/models/store-model.js';
import { rest, until } from '../support/watching.js';
import { reads } from './counted-reads.js';
import { keyOf, keysOf, listened, range, rowsOf, storeOf } from './live-store.js';

vi.mock(import('../../src/live/read-synchronously.js'), async (original) => {
  const { counted } = await import('./counted-reads.js');
  return counted(await original());
});
beforeEach(() => Object.assign(reads, { count: 0, isCold: false }));
afterEach(() => void vi.restoreAllMocks());

describe('the first value', () => {
  it('is there at once if it is in memory', async () => {
    const db = await storeOf(100, { indexes: { kind: { path: '/kind' } } });
    await db.count({ index: 'kind' });
    expect(live(db, { limit: 3 }).get()).toEqual({
      status: 'ready',
      rows: rowsOf(3),
      offset: 0,
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

  it('waits for the writes of its handle, and is loading until then', async () => {
    const db = await storeOf(3);
    const put = db.put(keyOf(0), 'new');
    const shown = live(db);
    expect(shown.get()).toEqual({
      status: 'loading',
      rows: [],
      offset: 0,
      isStale: false,
      error: undefined,
    });
    const told: unknown[] = [];
    shown.subscribe(() => told.push(shown.get().rows[0]));
    await put;
    await until(() => shown.get().status === 'ready');
    await rest();
    expect(told).toEqual([[keyOf(0), 'new']]);
    // In another range it waits for no write.
    void db.put('z', 1);
    expect(live(db, { prefix: 'k' }).get().status).toBe('ready');
    await db.close();
  });

  it('is read from storage if it is not in memory, and from a snapshot while others write', async () => {
    const storage = { ...memory(), isShared: true };
    const writer = await open('cold', { storage });
    await writer.putMany(rowsOf(50_000));
    const db = await open('cold', { storage, advanced: { cacheBytes: 0 } });
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

describe('a live row', () => {
  it('has the value of its row, and changes to another row', async () => {
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
  it('follows a range, an index, and a query, without reading rows', async () => {
    const db = await storeOf(90, { indexes: { kind: { path: '/kind' } } });
    await db.count({ index: 'kind' });
    const query = { source: () => ({ db, options: { gt: keyOf(9), limit: 3 }, rowOf: () => 1 }) };
    const counts = [
      liveCount(db),
      liveCount(db, { prefix: 'k000' }),
      liveCount(db, { index: 'kind', equals: 0 }),
      liveCount(query),
    ];
    const now = () => counts.map((one) => one.get().count);
    expect(now()).toEqual([90, 10, 30, 80]);
    // The first event of each watch may be older than the head: then its count is read again.
    const heard = counts.map(listened);
    await db.put('k0005+', { kind: 0 });
    await until(() => String(now()) === '91,11,31,80');
    await db.delete('k0005+');
    await db.put('k0050+', { kind: 1 });
    await until(() => String(now()) === '91,10,30,81');
    await db.delete('k0050+');
    await until(() => String(now()) === '90,10,30,80');
    for (const { stop } of heard) stop();
    const told = counts.map(listened);
    const state = counts[1]?.get();
    reads.count = 0;
    await db.put(keyOf(50), { kind: 0 });
    await until(() => counts[2]?.get().count === 31);
    await db.put(keyOf(1), { kind: 1, more: 1 });
    await db.deleteMany({ gte: keyOf(20), lt: keyOf(40) });
    await until(() => counts[3]?.get().count === 60);
    await until(() => counts[2]?.get().count === 24);
    await until(() => String(now()) === '70,10,24,60');
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
  const refused: [call: () => unknown, message: RegExp, code?: ErrorKind][] = [
    [() => live(undefined as never), /live takes a store.* not undefined/],
    [() => live(db.snapshot() as never), /live takes a store.* not Snapshot/],
    [() => live(db, { limit: -1 }), /live: limit/],
    [() => live(db, { first: 1 } as never), /live takes no first/],
    [() => live(db, { index: 'none' }), /none/],
    [() => live(db, { gt: 'a', gte: 'a' }), /one of gt and gte/],
    [() => live(db, { signal: new AbortController().signal } as never), /takes no signal/],
    [() => live({ source: () => ({ db, options: {}, rowOf: 1 as never }) }), /rowOf/],
    [() => liveRow(db, 1 as never), /liveRow: the key is not a string/, 'invalid-argument/key'],
    [() => liveRow(db, undefined as never), /liveRow: the key/, 'invalid-argument/key'],
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
