/** The writer with synchronous puts. */
import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { faulty } from '../../support/doubles/faulty-storage.js';
import {
  all,
  type Entry,
  expectSame,
  failure,
  sorted,
  within,
} from '../../support/models/store-model.js';
import { forSeeds, isDeep } from '../../support/property.js';
import { random } from '../../support/random.js';

const rows = (count: number, round = 0): Entry[] =>
  Array.from({ length: count }, (_, at): Entry => [`k${(at * 7919) % count}`, { at, round }]);

async function putAll(
  writer: ReturnType<Awaited<ReturnType<typeof open>>['writer']>,
  all: Entry[],
) {
  let awaited = 0;
  for (const [key, value] of all) {
    if (writer.tryPut(key, value)) continue;
    awaited++;
    await writer.put(key, value);
  }
  return awaited;
}

describe('a writer', () => {
  it('puts like putMany, with few promises', async () => {
    const [db, other] = await Promise.all(
      ['a', 'b'].map((name) => open(name, { storage: memory() })),
    );
    if (db === undefined || other === undefined) return;
    const source = rows(100_000);
    const writer = db.writer();
    const awaited = await putAll(writer, source);
    expect(awaited).toBeGreaterThan(0);
    expect(awaited).toBeLessThan(100);
    expect(await db.count()).toBe(0);
    const result = await writer.close();
    const { root } = await other.putMany(source);
    expect(result).toMatchObject({ root, rows: 100_000 });
    expect(result.stats.slices).toBeGreaterThan(5);
    expect(result.stats.chunks).toBeGreaterThan(100);
    expect(db.root).toBe(root);
  });

  it('copies values at the call', async () => {
    const db = await open('copies', { storage: memory() });
    const writer = db.writer();
    const [row, bytes] = [{ n: 0 }, Uint8Array.of(0)];
    for (let n = 0; n < 10; n++) {
      row.n = n;
      bytes[0] = n;
      expect(writer.tryPut(`row${n}`, row)).toBe(true);
      expect(writer.tryPut(`bytes${n}`, bytes)).toBe(true);
    }
    await writer.close();
    expect(await db.get('row3')).toEqual({ n: 3 });
    expect(await db.get('bytes3')).toEqual(Uint8Array.of(3));
  });

  it('mixes puts and deletes in their order, and rows of any size', async () => {
    await forSeeds(20, async (from, _, begin) => {
      const db = await open('mixed', { storage: memory() });
      await db.putMany(rows(300));
      const model = new Map<string, unknown>(await all(db));
      const commitEvery = from.pick([1, 7, 100, 1e9]);
      begin({ commitEvery });
      const writer = db.writer({ commitEvery });
      for (let at = 0; at < 200; at++) {
        const key = `k${from.below(400)}`;
        if (from.below(3) === 0) {
          if (!writer.tryDelete(key)) await writer.delete(key);
          model.delete(key);
        } else {
          const size = from.pick([1, 1, 10, 10, 10, 1000, 1000, 1000, 300_000, 1 << 20]);
          const value = from.below(2) === 0 ? 'x'.repeat(size) : new Uint8Array(size).fill(at);
          if (!writer.tryPut(key, value)) await writer.put(key, value);
          model.set(key, value);
        }
      }
      await writer.close();
      expectSame(await all(db), sorted(model));
    });
  });

  it('commits after every `commitEvery` rows', async () => {
    const db = await open('every', { storage: memory() });
    const writer = db.writer({ commitEvery: 1000 });
    const seen = new Set<number>();
    const count = 25_500;
    for (const [at, [key, value]] of rows(count).entries()) {
      if (!writer.tryPut(key, value)) await writer.put(key, value);
      if (at % 50 > 0) continue;
      await new Promise((resolve) => setImmediate(resolve));
      seen.add(await db.count());
    }
    expect((await writer.close()).rows).toBe(count);
    seen.add(await db.count());
    expect([...seen].filter((count) => count % 1000 !== 0)).toEqual([count]);
    expect(seen.size).toBeGreaterThan(5);
  });

  it('may write no row', async () => {
    const db = await open('nothing', { storage: memory() });
    await db.put('a', 1);
    const { root } = db;
    expect(await db.writer().close()).toMatchObject({ root, rows: 0, stats: { chunks: 0 } });
  });

  it('stores no row when it is aborted', async () => {
    const storage = memory();
    const db = await open('aborted', { storage });
    for (const count of [1, isDeep ? 100_000 : 40_000]) {
      const writer = db.writer();
      await putAll(writer, rows(count));
      await writer.abort();
      await writer.abort();
      expect(() => writer.tryPut('a', 1)).toThrow(failure('closed'));
      await expect(writer.put('a', 1)).rejects.toEqual(failure('closed'));
      await expect(writer.close()).rejects.toEqual(failure('closed'));
    }
    expect(await db.count()).toBe(0);
    expect((await (await open('aborted', { storage })).health.stats()).segments).toBe(0);
  });

  it('refuses a bad row and continues', async () => {
    const db = await open('bad', { storage: memory() });
    const writer = db.writer();
    expect(writer.tryPut('a', 1)).toBe(true);
    expect(() => writer.tryPut('\ud800', 1)).toThrow(failure('invalid-argument/key'));
    expect(() => writer.tryPut('b', undefined)).toThrow(failure('invalid-argument/value'));
    await expect(writer.put('b', 1n)).rejects.toEqual(failure('invalid-argument/value'));
    await expect(writer.delete('k'.repeat(1025))).rejects.toEqual(failure('invalid-argument/key'));
    await writer.close();
    expect(await all(db)).toEqual([['a', 1]]);
  });

  it('reports a failure in the next awaited call', async () => {
    // In the order of keys, so that segments are written before the end.
    const inOrder = rows(isDeep ? 200_000 : 120_000).sort(([a], [b]) => (a < b ? -1 : 1));
    for (const end of ['put', 'finish'] as const) {
      const storage = faulty(memory());
      const db = await open('failing', { storage });
      const error = new Error('for a test');
      storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error });
      const writer = db.writer();
      let refused = false;
      for (const [key, value] of inOrder) {
        refused = !writer.tryPut(key, value);
        if (refused) {
          const failed = await writer.put(key, value).catch((cause: unknown) => cause);
          if (failed === undefined) continue;
          expect(failed).toBe(error);
          break;
        }
      }
      expect(refused).toBe(true);
      expect(writer.tryPut('a', 1)).toBe(false);
      const again = end === 'put' ? writer.put('a', 1) : writer.close();
      await expect(again).rejects.toBe(error);
      storage.heal();
      expect(await db.count()).toBe(0);
      await db.put('a', 1);
    }
  });

  it('does not block other writes, and keeps them', async () => {
    const db = await open('others', { storage: memory() });
    const writer = db.writer();
    await putAll(writer, rows(isDeep ? 20_000 : 8000));
    await within(db.put('mine', 1));
    await within(db.put('k5', 'the last word'));
    await within(db.putMany([['more', 1]]));
    await writer.close();
    const others: Entry[] = [
      ['k5', 'the last word'],
      ['mine', 1],
      ['more', 1],
    ];
    expectSame(await all(db), sorted([...rows(isDeep ? 20_000 : 8000), ...others]));
  });

  it('closes with its store', async () => {
    const storage = memory();
    const db = await open('closed', { storage });
    const writer = db.writer();
    await putAll(writer, rows(isDeep ? 50_000 : 20_000));
    await within(db.close());
    expect(() => writer.tryPut('a', 1)).toThrow('the store was closed');
    expect(() => db.writer()).toThrow(failure('closed'));
    expect((await (await open('closed', { storage })).health.stats()).segments).toBe(0);
  });

  it('rejects bad arguments', async () => {
    const db = await open('options', { storage: memory() });
    for (const commitEvery of [0, -1, Number.NaN]) {
      expect(() => db.writer({ commitEvery })).toThrow(failure('invalid-argument'));
    }
  });

  it('keeps its buffer bounded when no call is awaited', async () => {
    const db = await open('bounded', { storage: memory() });
    const writer = db.writer();
    const { next } = random(3);
    let taken = 0;
    while (writer.tryPut(`k${next()}`, 'x'.repeat(100))) taken++;
    expect(taken).toBeLessThan(12_000);
    await writer.close();
    expect(await db.count()).toBe(taken);
  });
});
