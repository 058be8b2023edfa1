/** A watch that can report no more changes ends, and reports its error once; no retry runs for ever. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import '../../../src/engine/watch/watchers.js';
import { onRecovery } from '../../../src/base/internal-symbols.js';
import { turn } from '../../../src/base/slice-queue.js';
import type { WatchOptions } from '../../../src/engine/watch/watch-options.js';
import { HedgerowError, memory, open, type Store } from '../../../src/index.js';
import { faulty } from '../../support/doubles/faulty-storage.js';
import { type Entry, failure } from '../../support/models/store-model.js';
import { partlyNoise } from '../../support/noise.js';
import { isDeep } from '../../support/property.js';
import { startCore } from '../../support/start-core.js';
import { Copy, handles, rest, until } from '../../support/watching.js';

const rows = (count: number, length = 90): Entry[] =>
  Array.from({ length: count }, (_, at) => [
    `k${String(at).padStart(6, '0')}`,
    partlyNoise(at, length),
  ]);

/** So many rows that a first call reads more than once. */
const MANY = isDeep ? rows(20_000) : rows(8000, 250);

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Starts watches with and without `initial`; returns the errors with which they end. */
function ends(db: Store, options: WatchOptions = {}) {
  const errors: unknown[][] = [];
  const stops = [false, true].map((initial, at) => {
    errors.push([]);
    const onError = (error: unknown) => errors[at]?.push(error);
    return db.watch({}, () => {}, { ...options, initial, onError });
  });
  return { errors, stops, areOver: () => errors.every(({ length }) => length > 0) };
}

describe('storage that cannot be read', () => {
  it.each(['unavailable/disconnected', 'unavailable/storage'] as const)(
    'for long (`%s`) ends a watch after five tries within 7.5 seconds',
    async (code) => {
      const storage = faulty(memory());
      const writing = await open('test', { storage });
      await writing.putMany(MANY);
      const db = await open('test', { storage, advanced: { cacheBytes: 0 } });
      await startCore(db);
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const timers = vi.spyOn(globalThis, 'setTimeout');
      const error = new HedgerowError(code, 'never again');
      const before = storage.calls('read');
      storage.fail({ call: 'read', at: 1, lasting: true, when: 'before', error });
      const errors: unknown[] = [];
      db.watch({}, () => {}, { initial: true, onError: (cause) => errors.push(cause) });
      const tries: number[] = [];
      for (let ms = 0; ms <= 20_000 && errors.length === 0; ms += 500) {
        for (let at = 0; at < 30; at++) await turn();
        tries.push(storage.calls('read') - before);
        await vi.advanceTimersByTimeAsync(500);
      }
      expect(errors).toEqual([error]);
      // At 0, 0.5, 1.5, 3.5 and 7.5 seconds.
      expect(tries).toEqual([1, 2, 2, ...Array(4).fill(3), ...Array(8).fill(4)]);
      expect(storage.calls('read') - before).toBe(5);
      // The timers of retries do not keep Node alive.
      for (const { value } of timers.mock.results) expect(value.hasRef()).toBe(false);
      // No retry continues, and once storage works, a new watch works.
      await vi.advanceTimersByTimeAsync(60_000);
      expect([errors.length, storage.calls('read') - before]).toEqual([1, 5]);
      storage.heal();
      vi.restoreAllMocks();
      vi.useRealTimers();
      const copy = new Copy();
      db.watch({}, copy.take, { initial: true });
      await copy.becomes(MANY);
      await Promise.all([db.close(), writing.close()]);
    },
  );

  it('ends watches that were up to date, too, but not watches of other rows', async () => {
    const shared = { ...memory(), isShared: true };
    const other = await open('ends', { storage: shared });
    await other.putMany(MANY);
    const storage = faulty(shared);
    const db = await open('ends', { storage, advanced: { cacheBytes: 0 } });
    const copy = new Copy(MANY);
    const errors: unknown[] = [];
    db.watch({}, copy.take, { onError: (cause) => errors.push(cause) });
    await rest();
    const error = new HedgerowError('unavailable/storage', 'never again');
    storage.fail({ call: 'read', at: 1, lasting: true, when: 'before', error });
    // The watch follows a commit of another handle, whose changes cannot be read.
    await other.put('k000005', 'changed');
    await until(() => errors.length > 0);
    expect(errors).toEqual([error]);
    expect(copy.calls).toBe(0);
    storage.heal();
    // A watch that began at another commit continues from there.
    const later = new Copy((await db.scan().toArray()) as Entry[]);
    db.watch({}, later.take);
    await db.put('later', 1);
    await later.becomes((await db.scan().toArray()) as Entry[]);
    expect(errors).toEqual([error]);
    await Promise.all([db.close(), other.close()]);
  });

  it('for a while does not end a watch', async () => {
    const storage = faulty(memory());
    const writing = await open('test', { storage });
    await writing.putMany(MANY);
    const db = await open('test', { storage, advanced: { cacheBytes: 0 } });
    const error = new HedgerowError('unavailable/storage', 'not now');
    storage.fail({ call: 'read', at: storage.calls('read') + 1, when: 'before', error });
    const copy = new Copy();
    const onError = vi.fn();
    db.watch({}, copy.take, { initial: true, onError });
    await copy.becomes(MANY);
    expect(onError).not.toHaveBeenCalled();
    await Promise.all([db.close(), writing.close()]);
  });
});

describe('a handle that is closed', () => {
  it('ends its watches with `closed`, watches of its branches too', async () => {
    const db = await open('test', { storage: memory() });
    await db.put('a', 1);
    const draft = await db.branches.open('draft');
    const [own, drafts] = [ends(db), ends(draft)];
    await rest();
    await draft.close();
    expect(drafts.errors).toEqual([[failure('closed')], [failure('closed')]]);
    expect(own.errors).toEqual([[], []]);
    const again = await db.branches.open('draft');
    const others = ends(again);
    await db.close();
    expect([...own.errors, ...others.errors]).toEqual(Array(4).fill([failure('closed')]));
    expect(() => db.watch({}, () => {})).toThrow(failure('closed'));
  });

  it('also ends watches that have not read their rows yet, or wait for an index', async () => {
    const storage = memory();
    const made = await open('test', { storage });
    await made.putMany(MANY);
    await made.close();
    const db = await open('test', {
      storage,
      advanced: { cacheBytes: 0 },
      indexes: { x: { path: '/x' } },
    });
    const errors: unknown[] = [];
    const onError = (cause: unknown) => errors.push(cause);
    const called = vi.fn();
    db.watch({}, called, { initial: true, onError });
    db.watch({ index: 'x' }, called, { initial: true, onError });
    await db.close();
    expect(errors).toEqual([failure('closed'), failure('closed')]);
    await rest();
    expect(called).not.toHaveBeenCalled();
  });

  it('makes no report without `onError`, since the caller has closed it', async () => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
    const storage = memory();
    const db = await open('test', { storage });
    db.watch({}, () => {});
    await db.close();
    await rest();
    expect(reported).not.toHaveBeenCalled();
    // A deleted store is reported.
    const deleted = await open('test', { storage });
    deleted.watch({}, () => {});
    deleted.watch({}, () => {}, { initial: true });
    await storage.destroy('test');
    await until(() => reported.mock.calls.length === 2);
    expect(reported.mock.calls).toEqual([[failure('closed')], [failure('closed')]]);
  });

  it('calls no watch that was stopped, and calls the others even if one throws', async () => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
    const db = await open('test', { storage: memory() });
    const { errors, stops } = ends(db);
    for (const stop of stops) stop();
    const abort = new AbortController();
    const aborted = ends(db, { signal: abort.signal });
    abort.abort();
    const mine = new Error('mine');
    db.watch({}, () => {}, {
      onError: () => {
        throw mine;
      },
    });
    const last = vi.fn();
    db.watch({}, () => {}, { onError: last });
    // An `onError` that calls the store finds it closed.
    const calls: unknown[] = [];
    db.watch({}, () => {}, {
      onError: () => {
        calls.push(
          db.get('a').catch((cause: unknown) => cause),
          db.close(),
        );
      },
    });
    await db.close();
    expect([errors, aborted.errors]).toEqual([
      [[], []],
      [[], []],
    ]);
    expect(last.mock.calls).toEqual([[failure('closed')]]);
    expect(reported.mock.calls).toEqual([[mine]]);
    expect(await Promise.all(calls)).toEqual([failure('closed'), undefined]);
  });
});

describe('a branch that is deleted', () => {
  it('ends its watches with `not-found/branch`, in this tab and in others, and no others', async () => {
    const [one, other] = await handles(2, 'branches');
    await one.putMany(rows(100));
    const mains = [ends(one), ends(other)];
    const drafts = [
      await one.branches.open('draft'),
      await one.branches.open('draft'),
      await other.branches.open('draft'),
    ];
    const watches = drafts.map((db) => ends(db));
    const all = vi.fn();
    for (const db of drafts) db.watch({ prefix: 'none' }, all);
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
    await rest();
    await other.branches.delete('draft');
    await until(() => watches.every(({ areOver }) => areOver()));
    await until(() => reported.mock.calls.length === drafts.length);
    for (const { errors } of watches) {
      expect(errors).toEqual([[failure('not-found/branch')], [failure('not-found/branch')]]);
    }
    for (const [cause] of reported.mock.calls) expect(cause).toEqual(failure('not-found/branch'));
    for (const db of drafts) {
      expect(() => db.watch({}, () => {})).toThrow(failure('not-found/branch'));
    }
    await one.put('k', 1);
    await rest();
    for (const { errors } of mains) expect(errors).toEqual([[], []]);
    // A new branch of that name can be watched.
    const recovered = vi.fn();
    for (const db of drafts) onRecovery(db, recovered);
    const anew = await one.branches.open('draft');
    await until(() => recovered.mock.calls.length >= 2);
    const copy = new Copy();
    drafts[0]?.watch({}, copy.take, { initial: true });
    await anew.put('new', 1);
    await copy.becomes((await anew.scan().toArray()) as Entry[]);
    for (const { errors } of watches) expect(errors.map(({ length }) => length)).toEqual([1, 1]);
    await Promise.all([one.close(), other.close()]);
  });

  it('that never existed ends no watches of a handle that tries to switch to it', async () => {
    const db = await open('test', { storage: memory() });
    const { errors } = ends(db);
    await expect(db.branches.switchTo('none')).rejects.toEqual(failure('not-found/branch'));
    const copy = new Copy([]);
    db.watch({}, copy.take);
    await db.put('a', 1);
    await copy.becomes([['a', 1]]);
    expect(errors).toEqual([[], []]);
    await db.close();
  });
});
