/** Changes of sum trees in progress: signals, closing, slices and progress reports. */
import { describe, expect, it, vi } from 'vitest';
import { turn } from '../../../src/base/slice-queue.js';
import type { SumItem } from '../../../src/core/sum-tree-types.js';
import { memory, open } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { failure, SOON, within } from '../../support/models/store-model.js';
import { isDeep, sampled } from '../../support/property.js';
import { accounts, codeOf, leaves, pause, SUMS, sumsOf, value } from './sum-rows.js';

const [SOME, COUNT] = isDeep ? [3000, 5000] : [1000, 1500];
/** So many leaves that slices of 2 ms are several on any machine. */
const MANY = 20_000;

describe('signals and closing', () => {
  it('that are aborted in mid-change are noticed within a slice, and no leaf is stored', async () => {
    for (const after of sampled([0, 1, 2, 5, 10, 20], 2)) {
      const storage = watched(memory());
      const db = await open('s', { storage, advanced: { sliceMs: 1 } });
      await db.sumTree('t').putMany(leaves('a', 100));
      const before = [db.root, storage.stored.size];
      const controller = new AbortController();
      const change = db.sumTree('t').putMany(leaves('b', 20_000), { signal: controller.signal });
      let settled = false;
      const end = change.then(
        () => 'made',
        (cause: unknown) => cause,
      );
      void end.finally(() => {
        settled = true;
      });
      for (let count = 0; count < after; count++) await turn();
      expect(settled, `${after}`).toBe(false);
      controller.abort();
      // A slice may be in progress, and code that has not noticed the abort may begin one more.
      for (let count = 0; count < 5 && !settled; count++) await turn();
      expect(settled, `after ${after} turns`).toBe(true);
      expect(await end).toEqual(failure('aborted'));
      expect([db.root, storage.stored.size]).toEqual(before);
      expect((await sumsOf(db)).size).toBe(100);
      await db.sumTree('t').putMany(leaves('b', 10));
      expect((await sumsOf(db)).size).toBe(110);
      await db.close();
    }
  });

  it('that are aborted before the call, or while it waits for a source, end it', async () => {
    const db = await open('s', { storage: memory() });
    const gone = AbortSignal.abort();
    const tree = db.sumTree('t');
    const refused = failure('aborted');
    await expect(tree.put('a', { value, sum: 1n }, { signal: gone })).rejects.toEqual(refused);
    await expect(tree.deleteMany(['a'], { signal: gone })).rejects.toEqual(refused);
    await expect(tree.entries({ signal: gone }).toArray()).rejects.toEqual(refused);
    for (const given of [0, 3]) {
      const controller = new AbortController();
      let returned = 0;
      let isWaiting = false;
      const source: AsyncIterable<SumItem> = {
        [Symbol.asyncIterator]() {
          const some = leaves('s', given).values();
          return {
            next: () => {
              const next = some.next();
              if (!next.done) return Promise.resolve(next);
              isWaiting = true;
              return new Promise(() => {});
            },
            return: async () => {
              returned += 1;
              return { done: true, value: undefined };
            },
          };
        },
      };
      const change = tree.putMany(source, { signal: controller.signal });
      await vi.waitUntil(() => isWaiting, SOON);
      controller.abort();
      await expect(within(change)).rejects.toEqual(refused);
      await pause();
      expect(returned, `${given} given`).toBe(1);
    }
    expect(db.root).toBe('0'.repeat(64));
    await db.close();
  });

  it('closing ends the build of trees that follow rows, and the next handle builds them', async () => {
    for (const after of sampled([0, 1, 2, 3, 5, 8, 13], 3)) {
      const storage = memory();
      const plain = await open('s', { storage });
      await plain.putMany(accounts(COUNT));
      await plain.close();
      const db = await open('s', { storage, advanced: { sums: SUMS, sliceMs: 1 } });
      const reading = db
        .sumTree('balances')
        .get('acct/7')
        .catch((cause: unknown) => cause);
      for (let count = 0; count < after; count++) await turn();
      await within(db.close());
      const read = await within(reading);
      if (read instanceof Error) expect(['closed', 'aborted']).toContain(codeOf(read));
      const again = await open('s', { storage, advanced: { sums: SUMS } });
      expect((await again.sumTree('balances').get('acct/7'))?.sum).toBe(1n);
      expect(again.sumTree('balances').root.sum).toBe(BigInt(COUNT));
      await again.close();
    }
  });

  it('closing waits for changes in progress, and refuses later ones', async () => {
    const storage = memory();
    const db = await open('s', { storage });
    const tree = db.sumTree('t');
    const change = tree.putMany(leaves('a', SOME));
    await db.close();
    expect((await change).root.sum).toBe(BigInt(SOME));
    const closed = failure('closed');
    expect(() => tree.root).toThrow(expect.objectContaining({ code: 'closed' }));
    await expect(tree.put('b', { value, sum: 1n })).rejects.toEqual(closed);
    await expect(tree.get('b')).rejects.toEqual(closed);
    await expect(tree.prove('b')).rejects.toEqual(closed);
    await expect(tree.entries().toArray()).rejects.toEqual(closed);
    await expect(tree.diff('0'.repeat(64)).toArray()).rejects.toEqual(closed);
    const again = await open('s', { storage });
    expect(again.sumTree('t').root.sum).toBe(BigInt(SOME));
    await again.close();
  });
});

describe('slices', () => {
  it('of many leaves let other tasks run: there are many slices, and all are short', async () => {
    const db = await open('s', { storage: memory(), advanced: { sliceMs: 2 } });
    let [turns, running] = [0, true];
    const other = (async () => {
      while (running) {
        await pause();
        turns += 1;
      }
    })();
    const started = turns;
    const done = await db.sumTree('t').putMany(leaves('a', MANY));
    running = false;
    await other;
    expect(done.leaves).toBe(MANY);
    expect(done.root.sum).toBe(BigInt(MANY));
    // With slices of 2 ms even a much faster machine needs several, and timers ran in between.
    expect(done.stats.slices).toBeGreaterThan(10);
    expect(turns - started).toBeGreaterThan(done.stats.slices / 4);
    const { rows } = await db.health.stats();
    expect(rows).toBe(0);
    await db.close();
  });

  it('the whole store in one slice has the same root', async () => {
    const roots: string[] = [];
    for (const sliceMs of [1, 8, 1e9]) {
      const db = await open('s', { storage: memory(), advanced: { sliceMs, sums: SUMS } });
      await db.sumTree('t').putMany(leaves('a', COUNT));
      await db.putMany(accounts(COUNT));
      expect(db.sumTree('balances').root.sum).toBe(BigInt(COUNT));
      roots.push(db.root);
      await db.close();
    }
    expect(new Set(roots).size).toBe(1);
  });

  it('progress is reported, and ends at all leaves', async () => {
    const db = await open('s', { storage: memory() });
    const told: number[] = [];
    const onProgress = ({ leaves }: { leaves: number }) => told.push(leaves);
    await db.sumTree('t').putMany(leaves('a', MANY), { onProgress });
    expect(told.at(-1)).toBe(MANY);
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(told.length).toBeGreaterThan(2);
    await db.close();
  });
});
