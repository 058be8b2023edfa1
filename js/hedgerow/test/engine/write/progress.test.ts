/** The reports of `putMany` while it works, and its result. */
import { describe, expect, it } from 'vitest';
import {
  memory,
  open,
  type PatchOperation,
  type Progress,
  type Stats,
} from '../../../src/index.js';
import { type Entry, storeOf } from '../../support/models/store-model.js';
import { noise } from '../../support/noise.js';
import { random } from '../../support/random.js';

function rows(count: number): Entry[] {
  return Array.from({ length: count }, (_, at): Entry => {
    return [`k${String((at * 7919) % count).padStart(6, '0')}`, { at, text: noise(at, 30) }];
  });
}

describe('onProgress', () => {
  for (const [title, source] of [
    ['a sync source', (all: Entry[]) => all],
    [
      'an async source',
      async function* (all: Entry[]) {
        yield* all;
      },
    ],
  ] as [string, (all: Entry[]) => Iterable<Entry> | AsyncIterable<Entry>][]) {
    it(`never goes back, and ends with all rows of ${title}`, async () => {
      const db = await storeOf();
      const seen: Progress[] = [];
      const result = await db.putMany(source(rows(40_000)), {
        onProgress: (progress) => seen.push(progress),
      });
      for (const [at, { rows, bytes, durableRows }] of seen.entries()) {
        const before = seen[at - 1] ?? { rows: 0, bytes: 0, durableRows: 0 };
        expect(rows).toBeGreaterThanOrEqual(before.rows);
        expect(bytes).toBeGreaterThanOrEqual(before.bytes);
        expect(durableRows).toBeGreaterThanOrEqual(before.durableRows);
        expect(durableRows).toBeLessThanOrEqual(rows);
      }
      const { bytes } = result.stats;
      expect(seen.at(-1)).toEqual({ rows: 40_000, bytes, durableRows: 40_000, fraction: 1 });
    });
  }

  it('reports stored rows before the end while keys ascend, also for a patch after its clear', async () => {
    const puts = rows(100_000)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key], at) => ({ op: 'put' as const, key, value: { text: noise(at, 200) } }));
    for (const [before, patch] of [
      [[], puts],
      [[['z', 1]], [{ op: 'clear' as const }, ...puts]],
    ] as [Entry[], PatchOperation[]][]) {
      const db = await storeOf(before);
      const seen: Progress[] = [];
      await db.applyPatch(patch, { onProgress: (progress) => seen.push(progress) });
      const early = seen.filter(({ rows }) => rows < puts.length / 2);
      expect(early.at(-1)?.durableRows).toBeGreaterThan(0);
    }
  });

  it('comes once for few rows or no rows', async () => {
    const db = await storeOf();
    for (const count of [0, 1]) {
      const seen: Progress[] = [];
      await db.putMany(rows(count), { onProgress: (progress) => seen.push(progress) });
      expect(seen.at(-1)).toMatchObject({ rows: count, durableRows: count });
    }
  });

  it('comes at most once in 16 ms', async () => {
    const db = await storeOf();
    let calls = 0;
    const startMs = performance.now();
    const onProgress = () => {
      calls += 1;
    };
    await db.putMany(rows(40_000), { onProgress });
    // Gaps would mislead: a pause before a call shortens the next gap. Two calls come at the start and at the end.
    expect(calls).toBeLessThanOrEqual(2 + (performance.now() - startMs) / 16);
    expect(calls).toBeGreaterThan(0);
  });
});

describe('the result of putMany', () => {
  it('describes the finished work', async () => {
    const db = await storeOf();
    const all = rows(20_000);
    const result = await db.putMany(all);
    const { chunks, segments, storedBytes } = await db.health.stats();
    expect(result.root).toBe(db.root);
    expect(result.rows).toBe(20_000);
    expect(result.stats.bytes).toBeGreaterThan(JSON.stringify(all).length * 0.9);
    expect(result.stats.bytes).toBeLessThan(JSON.stringify(all).length * 1.1);
    expect(result.stats).toMatchObject({ chunks, segments });
    expect(storedBytes).toBeGreaterThan(0);
    expect(result.stats.ms).toBeGreaterThan(0);
    expect(result.stats.slices).toBeGreaterThan(1);
    expect(result.stats.longestSliceMs).toBeGreaterThan(0);
    expect(result.stats.longestSliceMs).toBeLessThanOrEqual(result.stats.ms);
    expect(result.stats.storageMs).toBeGreaterThanOrEqual(0);
    expect(result.stats.storageMs).toBeLessThanOrEqual(result.stats.ms);
  });

  it('counts rows of equal keys as rows', async () => {
    const db = await storeOf();
    expect(
      (
        await db.putMany([
          ['a', 1],
          ['a', 2],
        ])
      ).rows,
    ).toBe(2);
    expect(await db.count()).toBe(1);
  });

  it('counts byte values', async () => {
    const db = await storeOf();
    const { stats } = await db.putMany([['a', random(1).bytes(100_000)]]);
    expect(stats.bytes).toBeGreaterThanOrEqual(100_000);
    expect(stats.bytes).toBeLessThan(101_000);
  });

  it('has more slices where slices are shorter', async () => {
    const load = async (sliceMs: number) => {
      const db = await open('test', { storage: memory(), advanced: { sliceMs } });
      return (await db.putMany(rows(20_000))).stats.slices;
    };
    expect(await load(0.5)).toBeGreaterThan((await load(1000)) * 2);
  });
});

const bytesIn = ({ levels }: Stats) => levels.reduce((sum, { bytes }) => sum + bytes, 0);

describe('stats', () => {
  it('has the shape of the tree', async () => {
    const db = await storeOf(
      Array.from({ length: 20_000 }, (_, at): Entry => [`k${at}`, noise(at, 300)]),
    );
    const stats = await db.health.stats();
    expect(stats).toMatchObject({ root: db.root, rows: 20_000 });
    expect(stats.levels.map(({ level }) => level)).toEqual(
      stats.levels.map((_, at) => stats.levels.length - 1 - at),
    );
    expect(stats.levels[0]?.nodes).toBe(1);
    for (const { nodes, bytes, minBytes, maxBytes } of stats.levels) {
      expect(minBytes).toBeLessThanOrEqual(bytes / nodes);
      expect(maxBytes).toBeGreaterThanOrEqual(bytes / nodes);
      expect(maxBytes).toBeLessThanOrEqual((64 << 10) + 16);
    }
    expect(bytesIn(stats)).toBeLessThanOrEqual(stats.storedBytes);
    expect(stats.memoryBytes).toBeGreaterThan(stats.cachedBytes);
  });

  it('has the bytes of unpacked nodes', async () => {
    const entries = Array.from({ length: 20_000 }, (_, at): Entry => [`k${at}`, 'x'.repeat(300)]);
    const stats = await (await storeOf(entries)).health.stats();
    expect(bytesIn(stats)).toBeGreaterThan(20_000 * 300);
    expect(stats.storedBytes).toBeLessThan(bytesIn(stats) / 5);
    expect(stats.liveBytes).toBeLessThanOrEqual(stats.storedBytes);
  });

  it('of an empty store has no levels', async () => {
    const stats = await (await storeOf()).health.stats();
    expect(stats).toMatchObject({ rows: 0, levels: [], segments: 0, chunks: 0, storedBytes: 0 });
  });
});
