/** All kinds of reads, compared with a sorted array. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { ScanOptions } from '../../../src/engine/read/scan-options.js';
import { memory, open, type Store } from '../../../src/index.js';
import { ofKind } from '../../support/error-kind.js';
import {
  compareKeys,
  type Entry,
  expectSame,
  failure,
  select,
  sorted,
  storeOf,
} from '../../support/models/store-model.js';
import { forSeeds, sampled } from '../../support/property.js';

/** Several leaves and two levels, with values of every kind. */
function manyEntries(): Entry[] {
  return sorted(
    Array.from({ length: 3000 }, (_, at): Entry => {
      const key = `${['city', 'issue', 'user'][at % 3]}/${String((at * 7919) % 3000).padStart(5, '0')}`;
      return [key, at % 10 === 0 ? Uint8Array.of(at, at >> 8) : { at, text: 'x'.repeat(at % 50) }];
    }),
  );
}

describe('reads of a store of several leaves', () => {
  const entries = manyEntries();
  const keys = entries.map(([key]) => key);
  let db: Store;
  beforeAll(async () => {
    db = await storeOf(entries);
  });

  /** Compares all reads of one range with the model. */
  async function check(options: ScanOptions): Promise<void> {
    const expected = select(entries, options);
    const message = JSON.stringify(options);
    const scan = db.scan(options);
    expectSame(await scan.toArray(), expected, message);
    expectSame(
      await scan.keys().toArray(),
      expected.map(([key]) => key),
      message,
    );
    expectSame(
      await scan.values().toArray(),
      expected.map(([, value]) => value),
      message,
    );
    const { limit: _, reverse: __, offset: ___, ...range } = options;
    expect(await db.count(range), message).toBe(select(entries, range).length);
  }

  it('scan yields all rows in the order of their keys', () => check({}));
  it('a reverse scan yields them from the end', () => check({ reverse: true }));

  const keyAt = (at: number) => keys[at] as string;
  const ranges: ScanOptions[] = [
    { prefix: 'c' },
    { prefix: 'city/' },
    { prefix: 'city/0000' },
    { prefix: 'city/00001' },
    { prefix: 'city/000011' },
    { prefix: 'nothing' },
    { gt: keyAt(100) },
    { gte: keyAt(100) },
    { lt: keyAt(100) },
    { lte: keyAt(100) },
    { gt: keyAt(100), lt: keyAt(200) },
    { gte: keyAt(100), lte: keyAt(200) },
    { gt: keyAt(100), lte: keyAt(100) },
    { gte: keyAt(100), lt: keyAt(100) },
    { gte: keyAt(100), lte: keyAt(100) },
    { gt: keyAt(100), lt: keyAt(101) },
    { gt: keyAt(100), lt: keyAt(102) },
    { gt: keyAt(200), lt: keyAt(100) },
    { gte: '', lt: '' },
    { gte: '', lte: '' },
    { gt: '' },
    { lte: '\u{10ffff}' },
    { gt: '\u{10ffff}' },
    { gte: 'city/00010x', lt: 'city/00020x' },
    { prefix: 'issue/', gt: 'issue/01000' },
    { prefix: 'issue/', gte: 'city/', lt: 'user/' },
    { prefix: 'issue/', lt: 'issue/' },
    { prefix: 'issue/', lte: 'issue/00001' },
    { prefix: 'issue/', gt: 'user/' },
    { prefix: 'issue/', lt: 'city/' },
  ];
  const parts: ScanOptions[] = [
    ...[undefined, 0, 1, 7, 1000, 10_000, Number.POSITIVE_INFINITY].flatMap((limit) => [
      { limit },
      { limit, reverse: true },
    ]),
    ...[1, 99, 2000, Number.POSITIVE_INFINITY].flatMap((offset) => [
      { offset, limit: 3 },
      { offset, reverse: true },
    ]),
  ];
  const checked = sampled(
    ranges.flatMap((range) => parts.map((part) => ({ range, part }))),
    5,
  );

  it.each(ranges)('scan and count keep to the range %o', async (range) => {
    for (const { part } of checked.filter((one) => one.range === range)) {
      await check({ ...range, ...part });
    }
  });

  it('odd offsets and limits mean the same in a store, a snapshot and a transaction with edits', async () => {
    const counts = [0, -0, 1, entries.length, Number.MAX_SAFE_INTEGER, 1e300, Infinity];
    using snapshot = db.snapshot();
    await db.transaction(async (tx) => {
      tx.delete(keys[7] as string);
      const left = entries.filter(([key]) => key !== keys[7]);
      const all = counts.flatMap((offset) =>
        counts.flatMap((limit) => [false, true].map((reverse) => ({ offset, limit, reverse }))),
      );
      for (const options of sampled(all, 4)) {
        const message = JSON.stringify(Object.values(options).map(String));
        expectSame(await db.scan(options).toArray(), select(entries, options), message);
        expectSame(await snapshot.scan(options).toArray(), select(entries, options), message);
        expectSame(await tx.scan(options).toArray(), select(left, options), message);
      }
      tx.put(keys[7] as string, (entries[7] as Entry)[1]);
    });
  });

  it('scan and count respect random ranges', async () => {
    await forSeeds(30, async (from, _, begin) => {
      const bound = () => {
        const key = from.pick(keys);
        return from.pick([key, `${key}\0`, key.slice(0, from.below(key.length + 1)), `${key}~`]);
      };
      const options: ScanOptions = {
        ...from.pick([{}, {}, { gt: bound() }, { gte: bound() }]),
        ...from.pick([{}, {}, { lt: bound() }, { lte: bound() }]),
        ...from.pick([{}, {}, { prefix: (bound() || 'c').slice(0, 1 + from.below(9)) }]),
        reverse: from.next() < 0.5,
        offset: from.pick([undefined, undefined, from.below(5), from.below(2000)]),
        limit: from.pick([undefined, undefined, from.below(5), from.below(2000)]),
      };
      begin(options);
      await check(options);
    });
  });

  it('get returns each value, and undefined for an absent key', async () => {
    for (const [key, value] of entries) expectSame(await db.get(key), value, key);
    for (const key of ['', 'city', 'city/00001x', 'zzz']) {
      expect(await db.get(key)).toBeUndefined();
    }
  });

  it('getMany returns values in the order of its keys, with repeated and absent ones', async () => {
    await forSeeds(20, async (from, _, begin) => {
      const wanted = Array.from({ length: from.below(500) }, () =>
        from.next() < 0.2 ? `absent ${from.below(9)}` : from.pick(keys),
      );
      begin({ wanted });
      const map = new Map(entries);
      expectSame(
        await db.getMany(wanted),
        wanted.map((key) => map.get(key)),
      );
    });
  });

  it('getMany takes any iterable', async () => {
    const two = keys.slice(0, 2);
    const values = entries.slice(0, 2).map(([, value]) => value);
    expectSame(await db.getMany(new Set(two)), values);
    expectSame(await db.getMany(two.values()), values);
    expectSame(await db.getMany([]), []);
  });

  it('has returns whether a row exists', async () => {
    for (const key of keys.filter((_, at) => at % 50 === 0)) {
      expect(await db.has(key)).toBe(true);
      expect(await db.has(`${key}\0`)).toBe(false);
      expect(await db.has(key.slice(0, -1))).toBe(false);
    }
  });

  it('a scan can be iterated, repeated, and left early', async () => {
    const scan = db.scan();
    for (let round = 0; round < 2; round++) {
      const seen: Entry[] = [];
      for await (const entry of scan) {
        seen.push(entry);
        if (seen.length === 1500) break;
      }
      expectSame(seen, entries.slice(0, 1500));
    }
    const seen: string[] = [];
    for await (const key of scan.keys()) seen.push(key);
    expectSame(seen, keys);
  });

  it('many reads at the same time do not disturb each other', async () => {
    await forSeeds(4, async (from) => {
      await Promise.all(
        Array.from({ length: 20 }, () =>
          check({ gte: from.pick(keys), reverse: from.next() < 0.5, limit: from.below(1000) }),
        ),
      );
    });
  });

  it('each read returns new values', async () => {
    const [key = ''] = entries.find(([, value]) => !(value instanceof Uint8Array)) ?? [];
    const [first, second] = [await db.get<{ at: number }>(key), await db.get(key)];
    expect(first).not.toBe(second);
    if (first !== undefined) first.at = -1;
    expect(await db.get(key)).toEqual(second);
    const [bytesKey = ''] = entries.find(([, value]) => value instanceof Uint8Array) ?? [];
    const bytes = await db.get<Uint8Array>(bytesKey);
    const [again] = await db.getMany<Uint8Array>([bytesKey]);
    expect(bytes).toEqual(again);
    bytes?.fill(99);
    expect(await db.get(bytesKey)).toEqual(again);
    // The bytes have a buffer of their own, not a view of a larger one.
    expect(again?.buffer.byteLength).toBe(again?.length);
  });

  it('a signal ends a scan', async () => {
    const signal = AbortSignal.abort('enough');
    await expect(db.scan({ signal }).toArray()).rejects.toEqual(
      failure('aborted', { cause: 'enough' }),
    );
    const abort = new AbortController();
    const reading = (async () => {
      let count = 0;
      for await (const _ of db.scan({ signal: abort.signal })) {
        if (++count === 10) abort.abort();
      }
      return count;
    })();
    await expect(reading).rejects.toEqual(failure('aborted'));
    expect(await db.count()).toBe(entries.length);
  });

  it('a bad range or limit is refused', async () => {
    const bad: [ScanOptions, string][] = [
      [{ gt: 'a', gte: 'a' }, 'invalid-argument'],
      [{ lt: 'a', lte: 'a' }, 'invalid-argument'],
      [{ limit: -1 }, 'invalid-argument'],
      [{ limit: Number.NaN }, 'invalid-argument'],
      [{ offset: -1 }, 'invalid-argument'],
      [{ offset: 1.5 }, 'invalid-argument'],
      [{ prefix: '\ud800' }, 'invalid-argument/key'],
      [{ gt: 5 as never }, 'invalid-argument/key'],
      [{ lte: 'x'.repeat(1025) }, 'invalid-argument/key'],
      [{ gte: null as never }, 'invalid-argument/key'],
    ];
    for (const [range, code] of bad) {
      await expect(db.scan(range).toArray()).rejects.toMatchObject(ofKind(code));
      if ('limit' in range || 'offset' in range) continue;
      await expect(db.count(range)).rejects.toMatchObject(ofKind(code));
    }
  });
});

it('an empty store has no rows to read', async () => {
  const db = await storeOf();
  expect(await db.scan().toArray()).toEqual([]);
  expect(await db.scan({ reverse: true, prefix: 'a' }).keys().toArray()).toEqual([]);
  expect(await db.count()).toBe(0);
  expect(await db.get('')).toBeUndefined();
  expect(await db.getMany(['', 'a'])).toEqual([undefined, undefined]);
  expect(await db.has('a')).toBe(false);
});

it('reads have the same results from storage, with almost no cache', async () => {
  const storage = memory();
  const writer = await open('test', { storage });
  const entries = sorted(
    Array.from({ length: 6000 }, (_, at): Entry => [`k${(at * 7919) % 6000}`, `${at}`.repeat(99)]),
  );
  await writer.putMany(entries);
  const db = await open('test', { storage, advanced: { cacheBytes: 0 } });
  expectSame(await db.scan().toArray(), entries);
  expectSame(await db.scan({ reverse: true }).toArray(), entries.toReversed());
  const some = entries.filter((_, at) => at % 37 === 0);
  expectSame(
    await db.getMany(some.map(([key]) => key)),
    some.map(([, value]) => value),
  );
  await forSeeds(10, async (from, _, begin) => {
    const gte = from.pick(entries)[0];
    begin({ gte, limit: 50 });
    expectSame(await db.scan({ gte, limit: 50 }).toArray(), select(entries, { gte, limit: 50 }));
  });
});

it('keys are ordered by their bytes in UTF-8', () => {
  expect('～' < '😀').toBe(false);
  expect(compareKeys('～', '😀')).toBeLessThan(0);
});
