/** A collection frees the space of dead chunks, and never deletes a chunk in use. */
import { describe, expect, it } from 'vitest';
import { type Change, memory, open } from '../../../src/index.js';
import { collectOnDemand } from '../../support/collect-on-demand.js';
import { rows, settled, storedBytes } from '../../support/collected-rows.js';
import { faulty } from '../../support/doubles/faulty-storage.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { all, type Entry, expectSame, sorted, within } from '../../support/models/store-model.js';
import { below, forSampled, isDeep } from '../../support/property.js';
import { random } from '../../support/random.js';

describe('a collection', () => {
  it('frees the space of overwritten rows, as stats shows', async () => {
    collectOnDemand();
    const storage = watched(memory());
    const db = await open('test', { storage });
    for (let round = 0; round < 4; round++) await db.putMany(rows(isDeep ? 8000 : 3000, round));
    const before = await db.health.stats();
    expect(before.liveBytes).toBeLessThan(before.storedBytes / 3);
    const result = await db.health.compact();
    expect(result.bytesBefore).toBe(before.storedBytes);
    expect(result.bytesAfter).toBe(storedBytes(storage));
    expect(result.segmentsDeleted).toBeGreaterThan(0);
    const after = await db.health.stats();
    expect(after.storedBytes).toBeLessThan(1.07 * after.liveBytes);
    expect([after.root, after.rows, after.liveBytes]).toEqual([
      before.root,
      before.rows,
      before.liveBytes,
    ]);
    const again = await open('test', { storage });
    expectSame(await all(again), rows(isDeep ? 8000 : 3000, 3));
    expect((await db.health.compact()).segmentsDeleted).toBe(0);
  });

  it('frees the first rows of a watch and a count while they continue', async () => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    await db.putMany(rows(2000, 0));
    const rounds = new Set<unknown>();
    const take = (changes: readonly Change[]) => {
      for (const { op, ...change } of changes)
        if ('newValue' in change) rounds.add((change.newValue as { round: number }).round);
    };
    db.watch({}, take, { initial: true });
    await expect.poll(() => rounds.has(0)).toBe(true);
    await db.putMany(rows(2001, 1));
    await expect.poll(() => rounds.has(1)).toBe(true);
    await db.health.compact();
    const { storedBytes: stored, liveBytes } = await db.health.stats();
    expect(stored).toBeLessThan(1.2 * liveBytes);
  });

  it('starts by itself: rewriting all rows takes at most about twice the live bytes', async () => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    const [rounds, count] = isDeep ? [12, 20_000] : [4, 16_000];
    let most = 0;
    for (let round = 0; round < rounds; round++) {
      await db.putMany(rows(count, round));
      const { liveBytes } = await db.health.stats();
      await within(settled(() => storedBytes(storage) <= 2 * liveBytes + (1 << 20)));
      most = Math.max(most, storedBytes(storage) / liveBytes);
    }
    console.log(`stored at most ${most.toFixed(2)} x live after each of ${rounds} rewritings`);
    expect(most).toBeLessThan(2.5);
    expectSame(await all(await open('test', { storage })), rows(count, rounds - 1));
  });

  it('merges the segments of many small commits by itself', async () => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    for (let at = 0; at < 300; at++) await db.put(`k${at % 50}`, at);
    await within(settled(() => storage.stored.size < 10));
    const expected = Array.from({ length: 50 }, (_, at): Entry => [`k${at}`, 250 + at]);
    expectSame(await all(await open('test', { storage })), sorted(expected));
  });

  it('deletes the segments of a load that failed', async () => {
    // The writes of another collection would count as writes of the load.
    collectOnDemand();
    const inner = watched(memory());
    const storage = faulty(inner);
    const db = await open('test', { storage });
    await db.putMany(rows(1000, 0));
    const before = storedBytes(inner);
    // The last transaction fails, and so does the deletion of earlier segments.
    const error = new Error('cut off');
    const [count, at] = isDeep ? [60_000, 9] : [30_000, 6];
    storage.fail({
      call: 'write',
      at: storage.calls('write') + at,
      lasting: true,
      when: 'before',
      error,
    });
    storage.fail({ call: 'delete', at: 1, lasting: true, when: 'before', error });
    await expect(db.putMany(rows(count, 1))).rejects.toBe(error);
    storage.heal();
    expect(storedBytes(inner)).toBeGreaterThan(before + (2 << 20));
    await db.health.compact();
    expect(storedBytes(inner)).toBe(before);
    expectSame(await all(await open('test', { storage })), rows(1000, 0));
  });

  it('knows which large values are live', async () => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    const from = random(7);
    const bytes = isDeep ? 20_000 : 8000;
    const values = Array.from({ length: 3 }, () =>
      Array.from({ length: 20 }, (_, at): Entry => [`v${at + 10}`, from.bytes(bytes * (at + 1))]),
    );
    for (const entries of values) await db.putMany(entries);
    await db.health.compact();
    const { liveBytes, storedBytes: stored } = await db.health.stats();
    expect(stored).toBeLessThan(1.07 * liveBytes);
    expectSame(await all(await open('test', { storage })), values[2]);
  });

  it('that fails loses no row, and the next one succeeds', async () => {
    const inner = memory();
    const storage = faulty(inner);
    const error = new Error('for a test');
    const make = async () => {
      const db = await open('test', { storage });
      for (let round = 0; round < 3; round++) await db.putMany(rows(3000, round));
      return db;
    };
    const db = await make();
    const start = storage.calls();
    await db.health.compact();
    const calls = storage.calls() - start;
    expect(calls).toBeGreaterThan(1);
    await db.close();
    const faults = (['before', 'after'] as const).flatMap((when) =>
      below(calls).map((call) => ({ when, at: 1 + call })),
    );
    await forSampled(faults, async ({ when, at }) => {
      await storage.destroy('test');
      const again = await make();
      storage.fail({ at: storage.calls() + at, when, error });
      let cause: unknown;
      await again.health.compact().catch((reason: unknown) => {
        cause = reason;
        expect(reason).toBe(error);
      });
      storage.heal();
      expect((await again.health.stats()).compactFailure).toBe(cause);
      expectSame(await all(again), rows(3000, 2));
      await again.put('k000000', 'new');
      storage.heal();
      await again.health.compact();
      const { liveBytes, storedBytes: stored, compactFailure } = await again.health.stats();
      expect(compactFailure).toBeUndefined();
      expect(stored).toBeLessThan(1.07 * liveBytes);
      await again.close();
      const fresh = await open('test', { storage: inner });
      const expected = rows(3000, 2);
      expectSame(await all(fresh), [['k000000', 'new'], ...expected.slice(1)]);
      await fresh.close();
    });
  });
});
