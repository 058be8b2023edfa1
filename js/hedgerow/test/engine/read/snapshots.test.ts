/** Snapshots in tabs that do not collect, and after traps; reads of collected commits. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import type { SegmentStore, Storage } from '../../../src/storage/segment-store.js';
import { deaf } from '../../support/doubles/deaf-storage.js';
import { all, type Entry, expectSame } from '../../support/models/store-model.js';
import { forget, trapIn } from '../../support/trapping.js';

beforeEach(forget);
afterEach(() => trapIn(Number.POSITIVE_INFINITY));

function rows(count: number, round: number): Entry[] {
  return Array.from({ length: count }, (_, at): Entry => {
    const text = `${round} ${at} some text `.repeat(20);
    return [`k${String(at).padStart(6, '0')}`, { round, text }];
  });
}

/** Opens two handles of a store: the first collects, and neither follows the commits of the other. */
async function two(): Promise<[Store, Store]> {
  const storage = deaf();
  return [await open('test', { storage }), await open('test', { storage })];
}

const pause = () => new Promise((resolve) => setImmediate(resolve));

describe('a snapshot of a tab that does not collect', () => {
  it('is whole, and stays so, when its commit is old but not collected yet', async () => {
    const [collector, other] = await two();
    await collector.putMany(rows(4000, 1));
    expect(await other.count()).toBe(0);
    await other.put('own', 1);
    await collector.putMany(rows(4000, 2));
    const snap = other.snapshot();
    const count = snap.count();
    await collector.health.compact();
    expect(await count).toBe(4001);
    for (let round = 3; round < 6; round++) await collector.putMany(rows(4000, round));
    await collector.health.compact();
    expectSame(await snap.scan().toArray(), [...rows(4000, 1), ['own', 1]]);
    snap.close();
    await other.close();
    await collector.health.compact();
    const { storedBytes, liveBytes } = await collector.health.stats();
    expect(storedBytes).toBeLessThan(1.3 * liveBytes);
  });

  it('of a collected commit rejects with `missing-chunk`', async () => {
    const [collector, other] = await two();
    await collector.putMany(rows(4000, 1));
    await other.put('own', 1);
    await collector.putMany(rows(4000, 2));
    await collector.delete('own');
    await collector.health.compact();
    const snap = other.snapshot();
    await expect(snap.get('k003999')).rejects.toMatchObject({ code: 'missing-chunk' });
    await expect(snap.scan().toArray()).rejects.toMatchObject({ code: 'missing-chunk' });
    snap.close();
    expect(await other.get('k003999')).toMatchObject({ round: 2 });
    // From now on its head is covered: the next snapshot is whole after any commits in between.
    await pause();
    for (let round = 3; round < 6; round++) await collector.putMany(rows(4000, round));
    await collector.health.compact();
    using whole = other.snapshot();
    expectSame(await whole.scan().toArray(), rows(4000, 2));
  });

  it('is right each time while another tab rewrites and collects without a pause', async () => {
    const storage = { ...memory(), isShared: true };
    const collector = await open('test', { storage });
    const other = await open('test', { storage });
    await collector.putMany(rows(600, 0));
    let isOver = false;
    const rewriting = (async () => {
      for (let round = 1; !isOver; round++) {
        await collector.putMany(rows(600, round));
        await collector.health.compact();
      }
    })();
    let [taken, gone] = [0, 0];
    const rounds = new Set<unknown>();
    while (taken < 150) {
      taken += 1;
      using snap = other.snapshot();
      await pause();
      const found = await snap
        .scan<{ round: number }>()
        .values()
        .toArray()
        .catch((cause: { code: string }) => {
          expect(cause.code).toBe('missing-chunk');
          gone += 1;
        });
      if (found === undefined) continue;
      expect([0, 600]).toContain(found.length);
      expect(new Set(found.map(({ round }) => round)).size).toBeLessThan(2);
      rounds.add(found[0]?.round);
      for (let at = taken % 5; at > 0; at--) await pause();
    }
    isOver = true;
    await rewriting;
    console.info(`${taken} snapshots of ${rounds.size} commits, ${gone} of them collected before`);
    expect(rounds.size).toBeGreaterThan(5);
    expect(gone).toBeLessThan(8);
  });
});

describe('a collection', () => {
  it('keeps a commit that gets a branch and loses its pin while it looks around', async () => {
    const inner = memory();
    let meanwhile: (() => Promise<void>) | undefined;
    // Runs after the `at`-th load of the collector.
    const storage: Storage = {
      ...inner,
      open: async (name, options) => {
        const store = await inner.open(name, options);
        return {
          ...bound(store),
          load: async (...args) => {
            const loaded = await store.load(...args);
            await meanwhile?.();
            return loaded;
          },
        };
      },
    };
    for (const at of [1, 2]) {
      for (const moves of [false, true]) {
        await inner.destroy('test');
        const collector = await open('test', { storage });
        await collector.putMany(rows(3000, 1));
        const other = await open('test', { storage: inner });
        const snap = other.snapshot();
        expect(await snap.count()).toBe(3000);
        await other.put('own', 1);
        for (let round = 2; round < 4; round++) await collector.putMany(rows(3000, round));
        let looks = 0;
        meanwhile = async () => {
          looks += 1;
          if (looks !== at) return;
          const branch = await other.branches.open('draft', { from: snap });
          // The ref may have moved by the time that the collector sees it.
          if (moves) await branch.put('more', 1);
          await other.close();
        };
        const { segmentsDeleted } = await collector.health.compact();
        meanwhile = undefined;
        expect(looks).toBeGreaterThan(1);
        if (at === 2) expect(segmentsDeleted).toBeGreaterThan(0);
        const fresh = await open('test', { storage: inner });
        const draft = await fresh.branches.open('draft');
        const expected = moves ? [...rows(3000, 1), ['more', 1]] : rows(3000, 1);
        expectSame(await all(draft), expected as Entry[], `look ${at}`);
        await fresh.close();
        await collector.close();
      }
    }
  });
});

/** Returns the bound methods of a store. */
function bound(store: SegmentStore): SegmentStore {
  return {
    load: (...args) => store.load(...args),
    reserve: () => store.reserve(),
    read: (ids) => store.read(ids),
    write: (batch) => store.write(batch),
    history: (name) => store.history(name),
    delete: (ids) => store.delete(ids),
    close: () => store.close(),
  };
}

describe('after a trap', () => {
  it('snapshots and branches work again', async () => {
    const db = await open('test', { storage: memory(), advanced: { cacheBytes: 24 << 20 } });
    await db.putMany(rows(2000, 1));
    const draft = await db.branches.open('draft');
    await draft.put('draft', 1);
    const snap = db.snapshot();
    await db.putMany(rows(2000, 2));
    for (let trap = 0; trap < 4; trap++) {
      trapIn(1 + trap);
      await Promise.allSettled([snap.count(), db.count(), draft.get('draft'), snap.get('k000000')]);
      trapIn(Number.POSITIVE_INFINITY);
      expect(await snap.get('k000007')).toMatchObject({ round: 1 });
      expect(await draft.get('draft')).toBe(1);
      await db.health.compact();
      expectSame(await snap.scan().toArray(), rows(2000, 1));
      expectSame(await all(draft), [['draft', 1], ...rows(2000, 1)]);
      expectSame(await all(db), rows(2000, 2));
    }
    // Taken before another instance runs.
    trapIn(1);
    await db.count().catch(() => {});
    using early = db.snapshot();
    expectSame(await early.scan().toArray(), rows(2000, 2));
    await draft.put('draft', 2);
    expect(await draft.get('draft')).toBe(2);
    snap.close();
  });
});

describe('a transaction of a tab that does not collect', () => {
  it('runs again when the head of its check was collected', async () => {
    const [collector, other] = await two();
    await collector.putMany(rows(20_000, 1));
    const keys = rows(20_000, 1).map(([key]) => key);
    let runs = 0;
    const result = await other.transaction(async (tx) => {
      runs += 1;
      const values = await tx.getMany<{ round: number }>(keys.filter((_, at) => at % 100 === 0));
      tx.put('rounds', [...new Set(values.map((value) => value?.round))]);
      if (runs > 1) return runs;
      // This tab reaches a commit that it does not hold and that is collected.
      await collector.putMany(rows(20_000, 2));
      await other.put('own', 1);
      await collector.putMany(rows(20_000, 3));
      await collector.delete('own');
      await collector.health.compact();
      return runs;
    });
    expect(result).toBeGreaterThan(1);
    expect(await other.get('rounds')).toEqual([3]);
    expect(await other.get('own')).toBeUndefined();
  });
});
