/** `watchCount`: the number of rows or entries of a range, now and after each change. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type IndexRange, type KeyRange, memory, open, type Store } from '../../../src/index.js';
import { compareKeys, failure, storeOf, within } from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';
import { rows } from '../../support/watch-changes.js';
import { handles, rest, until } from '../../support/watching.js';

afterEach(() => void vi.restoreAllMocks());

/** A watched count, with the numbers that its callback got. */
function counts(db: Store, range: KeyRange | IndexRange = {}) {
  const told: number[] = [];
  const errors: unknown[] = [];
  let root = '';
  const take = (count: number, at: { readonly root: string }) => {
    told.push(count);
    root = at.root;
  };
  const stop = db.watchCount(range, take, { onError: (error) => errors.push(error) });
  return { told, errors, stop, root: () => root, last: () => told.at(-1) };
}

describe('a watched count', () => {
  it('is reported soon, then at each change, in any tab, and not for changed values', async () => {
    const [db, other] = await handles(2);
    await db.putMany(rows(10));
    const count = counts(db);
    await until(() => count.told.length === 1);
    expect(count.told).toEqual([10]);
    expect(count.root()).toBe(db.root);
    await db.put('k000003', 'changed');
    await other.put('x', 1);
    await until(() => count.last() === 11);
    await other.put('x', 2);
    await db.deleteMany(['k000001', 'k000002', 'nothing']);
    await until(() => count.last() === 9);
    await db.transaction((tx) => {
      tx.put('y', 1);
      tx.delete('x');
    });
    await db.clear();
    await until(() => count.last() === 0);
    expect(count.told).toEqual([10, 11, 9, 0]);
    expect(count.errors).toEqual([]);
  });

  it('of a range counts its rows alone, also in an empty range', async () => {
    const db = await storeOf(rows(100));
    const all = { prefix: counts(db, { prefix: 'k00001' }), empty: counts(db, { gt: 'x' }) };
    const none = counts(db, { gt: 'b', lt: 'a' });
    await until(() => none.told.length + all.prefix.told.length + all.empty.told.length === 3);
    await db.put('k000010a', 1);
    await until(() => all.prefix.last() === 11);
    await db.put('y', 1);
    await until(() => all.empty.last() === 1);
    expect(none.told).toEqual([0]);
    expect(all.prefix.told).toEqual([10, 11]);
    expect(all.empty.told).toEqual([0, 1]);
  });

  it('of an index counts entries: each member of an array, and no rows outside of a range', async () => {
    const db = await open('test', {
      storage: memory(),
      indexes: { tag: { path: '/tags' }, done: { path: '/done' } },
    });
    await db.put('a', { tags: ['x', 'y', 'x'], done: false });
    const tags = counts(db, { index: 'tag' });
    const x = counts(db, { index: 'tag', equals: 'x' });
    const open_ = counts(db, { index: 'done', equals: false });
    await until(() => x.told.length + tags.told.length + open_.told.length === 3);
    await db.put('b', { tags: ['x'], done: false });
    await until(() => x.last() === 2 && tags.last() === 3 && open_.last() === 2);
    await db.put('a', { tags: ['z', 'y'], done: true });
    await until(() => x.last() === 1 && open_.last() === 1);
    // As many entries as before.
    expect(tags.told).toEqual([2, 3]);
    expect(await db.count({ index: 'tag' })).toBe(3);
  });

  it('waits for an index that is being built', async () => {
    const storage = memory();
    const first = await open('test', { storage });
    await first.putMany(rows(2000));
    await first.close();
    const db = await open('test', { storage, indexes: { at: { path: '/at' } } });
    const count = counts(db, { index: 'at', lt: 500 });
    await until(() => count.told.length > 0);
    expect(count.told).toEqual([500]);
  });

  it('includes writes between the call and the first number', async () => {
    const db = await storeOf(rows(5));
    const count = counts(db);
    const writing = [db.put('a', 1), db.put('b', 1)];
    await db.put('c', 1);
    await Promise.all(writing);
    await until(() => count.last() === 8);
    expect(count.told.length).toBeLessThanOrEqual(2);
  });

  it('of 1,000 ranges reports the range that has changed', async () => {
    const db = await storeOf(rows(1000));
    const name = (at: number) => `k000${String(at).padStart(3, '0')}`;
    const all = Array.from({ length: 1000 }, (_, at) => counts(db, { prefix: name(at) }));
    await until(() => all.every(({ told }) => told.length === 1));
    await db.put(`${name(500)}/more`, 1);
    await until(() => all[500]?.last() === 2);
    await rest();
    expect(all.filter(({ told }) => told.length > 1).length).toBe(1);
  });

  it('parses no values of rows, unless another watch wants them', async () => {
    const db = await storeOf();
    const parse = vi.spyOn(JSON, 'parse');
    const parsed = () => parse.mock.calls.some(([text]) => String(text).includes('needle'));
    const count = counts(db);
    await until(() => count.told.length === 1);
    await db.putMany(rows(2000, 'needle'));
    await until(() => count.last() === 2000);
    await db.putMany(rows(2000, 'needle again'));
    await db.deleteMany({ prefix: 'k' });
    await until(() => count.last() === 0);
    expect(parsed()).toBe(false);
    const other: string[] = [];
    db.watch({ prefix: 'other' }, (changes) => void other.push(...changes.map(({ key }) => key)));
    await db.putMany(rows(2000, 'needle'));
    await until(() => count.last() === 2000);
    expect(parsed()).toBe(false);
    await db.put('other', { needle: 1 });
    await until(() => other.length === 1 && count.last() === 2001);
    expect(parsed()).toBe(true);
  });

  it('and a watch of the same range both get the change', async () => {
    const db = await storeOf();
    const count = counts(db, { prefix: 'a' });
    const told: unknown[] = [];
    db.watch({ prefix: 'a' }, (changes) => void told.push(...changes));
    await until(() => count.told.length === 1);
    await db.put('a', { n: 1 });
    await until(() => count.last() === 1 && told.length === 1);
    expect(told).toEqual([{ op: 'add', key: 'a', newValue: { n: 1 } }]);
  });

  it('does not call a callback again before its promise settles, and is right then', async () => {
    const db = await storeOf();
    const told: number[] = [];
    let release = () => {};
    db.watchCount({}, (count) => {
      told.push(count);
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    await until(() => told.length === 1);
    for (const key of ['a', 'b', 'c']) await db.put(key, 1);
    await rest();
    expect(told).toEqual([0]);
    release();
    await until(() => told.length === 2);
    await db.put('d', 1);
    await db.delete('d');
    // The watch could still stand between the two.
    await rest();
    release();
    await rest();
    await db.put('e', 1);
    await until(() => told.at(-1) === 4);
    expect(told).toEqual([0, 3, 4]);
  });

  it('continues after its callback has thrown', async () => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
    const db = await storeOf();
    const told: number[] = [];
    db.watchCount({}, (count) => {
      told.push(count);
      if (count === 1) throw new Error('mine');
    });
    await until(() => told.length === 1);
    await db.put('a', 1);
    await until(() => told.length === 2);
    await db.put('b', 1);
    await until(() => told.length === 3);
    expect(told).toEqual([0, 1, 2]);
    expect(reported).toHaveBeenCalledOnce();
  });

  it('ends by its function, by a signal, also before the first call, and with the store', async () => {
    const db = await storeOf();
    const abort = new AbortController();
    const told: number[] = [];
    db.watchCount({}, (count) => told.push(count), { signal: abort.signal });
    db.watchCount({}, () => told.push(-1), { signal: AbortSignal.abort() });
    db.watchCount({}, () => told.push(-2))();
    await until(() => told.length === 1);
    abort.abort();
    await db.put('a', 1);
    await rest();
    expect(told).toEqual([0]);
    const last = counts(db);
    await until(() => last.told.length === 1);
    await within(db.close());
    expect(last.errors).toEqual([failure('closed')]);
    expect(() => db.watchCount({}, () => {})).toThrow(failure('closed'));
  });

  it('ends with branch-not-found when its branch is deleted, and is right on a new branch of that name', async () => {
    const db = await storeOf(rows(3));
    const draft = await db.branch('draft');
    const count = counts(draft);
    await until(() => count.told.length === 1);
    await db.deleteBranch('draft');
    await until(() => count.errors.length === 1);
    expect(count.errors).toEqual([failure('branch-not-found')]);
    let recovered = 0;
    draft.onRecovery(() => {
      recovered += 1;
    });
    await db.put('more', 1);
    await db.branch('draft');
    await until(() => recovered > 0);
    const again = counts(draft);
    await until(() => again.told.length === 1);
    expect(again.told).toEqual([4]);
  });

  it('follows resets, switches and merges', async () => {
    const db = await storeOf(rows(10));
    const { root } = db;
    using _ = db.snapshot();
    const draft = await db.branch('draft');
    await draft.putMany(rows(30));
    const count = counts(db);
    await until(() => count.told.length === 1);
    await db.merge('draft');
    await until(() => count.last() === 30);
    await db.resetTo(root);
    await until(() => count.last() === 10);
    await db.switchTo('draft');
    await until(() => count.last() === 30);
    expect(count.told).toEqual([10, 30, 10, 30]);
  });

  it('refuses a bad range, callback or option', async () => {
    const db = await storeOf();
    const take = () => {};
    for (const call of [
      () => db.watchCount({ limit: 1 } as never, take),
      () => db.watchCount({ index: 'none' }, take),
      () => db.watchCount({ gt: 'a', gte: 'b' }, take),
      () => db.watchCount({}, undefined as never),
      () => db.watchCount({}, take, { initial: true } as never),
      () => db.watchCount('k' as never, take),
    ]) {
      expect(call).toThrow(failure('invalid-argument'));
    }
    expect(() => db.watchCount({ prefix: '\ud800' }, take)).toThrow(failure('invalid-key'));
  });
});

const PREFIXES = ['a', 'b', 'ab', 'c'];

function rangeFrom(from: Random): KeyRange | IndexRange {
  if (from.below(3) === 0) return { index: 'tag', ...(from.below(2) && { equals: from.below(4) }) };
  const [low = '', high = ''] = [from.text(2), from.text(2)].sort(compareKeys);
  return from.pick<KeyRange>([{ prefix: from.pick(PREFIXES) }, { gte: low, lt: high }, {}]);
}

it('equals count, for random histories of two handles and a branch', async () => {
  await forSeeds(30, async (from, seed, begin) => {
    const storage = { ...memory(), isShared: true };
    const indexes = { tag: { path: '/tags' } };
    const name = `random ${seed}`;
    const one = await open(name, { storage, indexes });
    const two = await open(name, { storage, indexes });
    const draft = await one.branch('draft');
    const writers = [one, two, draft];
    const watched = writers.flatMap((db) =>
      Array.from({ length: 6 }, () => {
        const range = rangeFrom(from);
        return { db, range, count: counts(db, range) };
      }),
    );
    const value = () => ({ tags: Array.from({ length: from.below(4) }, () => from.below(4)) });
    const key = () => from.pick(PREFIXES) + from.pick(PREFIXES) + from.below(30);
    const kinds = {
      put: (db: Store) => db.put(key(), value()),
      delete: (db: Store) => db.delete(key()),
      many: (db: Store) =>
        db.putMany(Array.from({ length: 1 + from.below(300) }, () => [key(), value()])),
      range: (db: Store) => db.deleteMany({ prefix: `a${from.below(4)}` }),
      index: (db: Store) => db.deleteMany({ index: 'tag', equals: from.below(4) }),
      clear: (db: Store) => db.clear(),
      merge: () => one.merge('draft', { onConflict: ({ theirs }) => theirs }),
      stop: async () => {
        const { db, range, count } = from.pick(watched);
        count.stop();
        watched.push({ db, range, count: counts(db, range) });
        watched.splice(
          watched.findIndex((other) => other.count === count),
          1,
        );
      },
    };
    for (let step = 0; step < 25; step++) {
      const kind = from.pick(Object.keys(kinds)) as keyof typeof kinds;
      begin(kind);
      await kinds[kind](from.pick(writers));
      if (from.below(4) > 0) continue;
      for (const { db, range, count } of watched) {
        await until(() => count.errors.length > 0 || count.told.length > 0);
        await expect
          .poll(async () => count.last() === (await db.count(range)), {
            timeout: 20_000,
            interval: 2,
          })
          .toBe(true);
      }
    }
    for (const { count } of watched) {
      expect(count.errors).toEqual([]);
      count.told.forEach((now, at) => {
        if (at > 0) expect(now).not.toBe(count.told[at - 1]);
      });
    }
    for (const db of [draft, one, two]) await db.close();
  });
});
