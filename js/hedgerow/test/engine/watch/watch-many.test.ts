/** Watching with many callbacks, stopping a watch, and arguments that a watch refuses. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { failure, select, sorted, storeOf, within } from '../../support/models/store-model.js';
import { noise } from '../../support/noise.js';
import { isDeep } from '../../support/property.js';
import { calls, rows } from '../../support/watch-changes.js';
import { Copy, rest, until } from '../../support/watching.js';

afterEach(() => void vi.restoreAllMocks());

describe('stopping', () => {
  it('is immediate, for itself and for others, in callbacks too', async () => {
    const db = await storeOf();
    const [first, second] = [vi.fn(), vi.fn()];
    const stopFirst = db.watch({}, () => {
      first();
      stopFirst();
      stopSecond();
    });
    const stopSecond = db.watch({}, second);
    const third = calls();
    const stopThird = db.watch({}, third.take);
    await db.put('a', 1);
    await until(() => third.told.length === 1);
    await db.put('b', 1);
    await until(() => third.told.length === 2);
    expect([first.mock.calls.length, second.mock.calls.length]).toEqual([1, 0]);
    const writing = db.put('c', 1);
    stopThird();
    stopThird();
    await writing;
    await rest();
    expect(third.told.length).toBe(2);
  });

  it('works with a signal, also with one that was aborted before', async () => {
    const db = await storeOf();
    const aborting = new AbortController();
    const { told, take } = calls();
    db.watch({}, take, { signal: aborting.signal });
    db.watch({}, take, { signal: AbortSignal.abort(), initial: true });
    await db.put('a', 1);
    await until(() => told.length === 1);
    aborting.abort();
    await db.put('b', 1);
    await rest();
    expect(told.length).toBe(1);
  });

  it('ends the first call while its rows are read', async () => {
    const storage = watched(memory());
    const written = await open('test', { storage });
    // So many bytes that their read needs several segments.
    await written.putMany(Array.from({ length: 8000 }, (_, at) => [`k${at}`, noise(at, 300)]));
    const db = await open('test', { storage, advanced: { cacheBytes: 0 } });
    const { told, take } = calls();
    const stop = db.watch({}, take, { initial: true });
    let reads = 0;
    storage.hooks.read = (_, bytes) => {
      reads += 1;
      if (reads === 2) stop();
      return bytes;
    };
    await until(() => reads >= 2);
    await rest();
    expect(told).toEqual([]);
    await Promise.all([db.close(), written.close()]);
  });

  it('happens at close, which does not wait for callbacks', async () => {
    const db = await storeOf(rows(5000));
    const { told, take } = calls();
    db.watch({}, take, { initial: true });
    db.watch({}, () => new Promise(() => {}), { initial: true });
    await until(() => told.length === 1);
    const writing = db.put('a', 1);
    await within(db.close());
    await writing;
    await rest();
    expect(told.length).toBe(1);
    expect(() => db.watch({}, take)).toThrow(failure('closed'));
  });

  it('and beginning again in a callback loses no change', async () => {
    const db = await storeOf();
    const copy = new Copy([]);
    let stop = () => {};
    const again = (...told: Parameters<Copy['take']>) => {
      copy.take(...told);
      stop();
      if (told[1].root === db.root) stop = db.watch({}, again);
      else stop = () => {};
    };
    stop = db.watch({}, again);
    for (let at = 0; at < 20; at++) {
      await db.put(`k${at % 7}`, at);
      await until(() => copy.calls === at + 1);
    }
    await copy.becomes(await db.scan().toArray());
  });
});

describe('many watchers', () => {
  it('of ranges that overlap in every way get the changes of their own range', async () => {
    const db = await storeOf();
    const model = new Map<string, unknown>();
    const ranges = Array.from({ length: 300 }, (_, at) => {
      const low = `k${String((at * 37) % 1000).padStart(6, '0')}`;
      const high = `k${String(((at * 37) % 1000) + (at % 60)).padStart(6, '0')}`;
      return at % 3 === 0
        ? { gte: low, lte: high }
        : at % 3 === 1
          ? { gt: low, lt: high }
          : { prefix: low };
    });
    const copies = ranges.map((range) => [range, new Copy([])] as const);
    for (const [range, copy] of copies) db.watch(range, copy.take);
    for (let round = 0; round < (isDeep ? 5 : 2); round++) {
      const entries = rows(1000, round).filter((_, at) => (at * 7 + round) % 3 === 0);
      for (const [key, value] of entries) model.set(key, value);
      await db.putMany(entries);
      for (const [range, copy] of copies) await copy.becomes(model, range);
    }
    const before = copies.map(([, { calls }]) => calls);
    const isHit = ([range]: (typeof copies)[number]) =>
      select(sorted([['k000500', 'one']]), range).length > 0;
    const hit = copies.filter(isHit);
    await db.put('k000500', 'one');
    await until(() => hit.every(([, { rows }]) => rows.get('k000500') === 'one'));
    await rest();
    const called = copies.filter(([, { calls }], at) => calls !== before[at]);
    expect(called).toEqual(hit);
    expect(hit.length).toBeGreaterThan(2);
    expect(hit.length).toBeLessThan(30);
  });

  it('that are far apart do not read the rows between', async () => {
    const db = await open('gap', { storage: memory() });
    await db.putMany([
      ['a', 1],
      ['z', 1],
    ]);
    const parse = vi.spyOn(JSON, 'parse');
    const { told, take } = calls();
    db.watch({ lte: 'a' }, take);
    db.watch({ gte: 'z' }, take);
    parse.mockClear();
    await db.putMany([...rows(20_000), ['a', 2], ['z', 2]]);
    await until(() => told.flat().length === 2);
    const parsed = parse.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
    expect(parsed).toBeGreaterThan(0);
    expect(parsed).toBeLessThan(200_000);
    expect(sorted(told.flat().map(({ key }) => [key, 1]))).toEqual([
      ['a', 1],
      ['z', 1],
    ]);
  });
});

describe('bad arguments', () => {
  it.each([
    [{ gt: 'a', gte: 'b' }, 'invalid-argument'],
    [{ prefix: '\ud800' }, 'invalid-argument/key'],
    [{ lt: 5 as unknown as string }, 'invalid-argument/key'],
    [{ gte: 'x'.repeat(2000) }, 'invalid-argument/key'],
  ] as const)('%o is refused', async (range, code) => {
    const db = await storeOf();
    expect(() => db.watch(range, () => {})).toThrow(failure(code));
  });

  it('a callback must be a function', async () => {
    const db = await storeOf();
    expect(() => db.watch({}, 5 as unknown as () => void)).toThrow(failure('invalid-argument'));
  });
});
