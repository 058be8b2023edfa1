/** A collection frees the space of dead chunks, and never deletes a chunk in use. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Change, memory, open, type Store } from '../../../src/index.js';
import { faulty } from '../../support/doubles/faulty-storage.js';
import { watched } from '../../support/doubles/watched-storage.js';
import {
  all,
  type Entry,
  expectSame,
  failure,
  sorted,
  within,
} from '../../support/models/store-model.js';
import { noise } from '../../support/noise.js';
import { type BeginStep, below, forSampled, forSeeds, isDeep } from '../../support/property.js';
import { type Random, random } from '../../support/random.js';

function rows(count: number, round: number): Entry[] {
  return Array.from(
    { length: count },
    (_, at): Entry => [
      `k${String(at).padStart(6, '0')}`,
      { at, round, text: noise(at * 1000 + round, 100) },
    ],
  );
}

function storedBytes({ stored }: ReturnType<typeof watched>): number {
  return [...stored.values()].reduce((sum, { segmentBytes }) => sum + segmentBytes.length, 0);
}

describe('a collection', () => {
  it('frees the space of overwritten rows, as stats shows', async () => {
    // Keeps a collection from starting by itself.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
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

/** Resolves once the condition holds. */
async function settled(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function settledAfter(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

describe('among several handles', () => {
  it('one is the collector, and another takes the role after its close', async () => {
    const storage = memory();
    const first = await open('test', { storage });
    const second = await open('test', { storage });
    await first.health.compact();
    await expect(second.health.compact()).rejects.toEqual(failure('blocked'));
    await first.close();
    await within(untilItCollects(second));
  });

  it('a scan in one handle returns its rows to the end, while another handle rewrites and collects', async () => {
    const count = isDeep ? 20_000 : 6000;
    const storage = watched(memory());
    const collector = await open('test', { storage });
    const reader = await open('test', { storage, advanced: { cacheBytes: 0 } });
    for (let round = 0; round < 3; round++) {
      await collector.putMany(rows(count, round));
      const scan = reader.scan()[Symbol.asyncIterator]();
      const seen: Entry[] = [(await scan.next()).value as Entry];
      const [[, { round: seenRound }]] = seen as [[string, { round: number }]];
      await collector.putMany(rows(count, round + 100));
      const own = all(reader);
      const { segmentsDeleted } = await collector.health.compact();
      if (round > 0) expect(segmentsDeleted).toBeGreaterThan(0);
      for (let next = await scan.next(); !next.done; next = await scan.next())
        seen.push(next.value as Entry);
      expectSame(seen, rows(count, seenRound));
      await own;
    }
    // Releases all pins.
    await reader.close();
    await collector.health.compact();
    const { liveBytes } = await collector.health.stats();
    expect(storedBytes(storage)).toBeLessThan(1.07 * liveBytes);
  });

  it('single reads and edits on a collected commit use the newest commit', async () => {
    const [count, middle, later] = isDeep ? [20_000, 10_000, 15_000] : [4000, 2000, 3000];
    const [middleKey, laterKey] = [middle, later].map(
      (at) => `k${String(at).padStart(6, '0')}`,
    ) as [string, string];
    const storage = memory();
    const collector = await open('test', { storage });
    await collector.putMany(rows(count, 0));
    const other = await open('test', { storage, advanced: { cacheBytes: 0 } });
    await other.put('k000000', 'mine');
    await collector.putMany(rows(count, 1));
    await collector.health.compact();
    expectSame(await other.get(middleKey), rows(count, 1)[middle]?.[1]);
    await collector.putMany(rows(count, 2));
    await collector.health.compact();
    await other.put(laterKey, 'mine');
    await collector.putMany(rows(count, 3));
    await collector.health.compact();
    expect(await other.count({ lt: middleKey })).toBe(middle);
    await collector.putMany(rows(count, 4));
    await collector.health.compact();
    await other.delete(laterKey);
    expect(await all(other)).toHaveLength(count - 1);
  });

  it('segments that a load stores early stay until it commits', async () => {
    const storage = watched(memory());
    const collector = await open('test', { storage });
    const other = await open('test', { storage });
    let open_ = () => {};
    const gate = new Promise<void>((resolve) => {
      open_ = resolve;
    });
    const source = async function* () {
      yield* rows(isDeep ? 30_000 : 24_000, 0);
      await gate;
      yield ['last', 1] as Entry;
    };
    const load = other.putMany(source());
    await within(settled(() => storage.stored.size > 3));
    await collector.put('a', 1);
    expect((await collector.health.compact()).segmentsDeleted).toBe(0);
    open_();
    await load;
    await collector.health.compact();
    expect(await all(await open('test', { storage }))).toHaveLength((isDeep ? 30_000 : 24_000) + 2);
  });

  it('segments that a load of the collector stores while it reads locks stay, too', async () => {
    const inner = watched(memory());
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { locks } = inner;
    if (locks === undefined) throw new Error('memory has locks');
    const query: typeof locks.query = async () => {
      go();
      await settled(() => inner.stored.size > 1);
      return locks.query();
    };
    const storage = { ...inner, locks: { ...locks, query } };
    const db = await open('test', { storage });
    const entries = rows(isDeep ? 30_000 : 15_000, 0);
    const source = async function* () {
      // The load makes a segment, and does not write it yet.
      yield* entries.slice(0, 6000);
      await gate;
      yield* entries.slice(6000);
    };
    const load = db.putMany(source());
    await within(settledAfter(200));
    expect(inner.stored.size).toBe(0);
    await within(db.health.compact());
    await load;
    expectSame(await all(await open('test', { storage: inner })), entries);
  });

  it('random changes, reads and collections find every row', async () => {
    await forSeeds(25, session);
  });
});

async function untilItCollects(db: Store): Promise<void> {
  for (;;) {
    const result = await db.health.compact().catch(() => undefined);
    if (result !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Three handles work at the same time; any of them may close and open again. */
async function session(from: Random, _seed: number, begin: BeginStep): Promise<void> {
  const storage = memory();
  const handles = await Promise.all(
    [0, 1, 2].map(() =>
      open('test', { storage, advanced: { cacheBytes: from.below(2) * (64 << 20) } }),
    ),
  );
  const own = (who: number, at: number) => `${who}/${String(at).padStart(4, '0')}`;
  const models = [0, 1, 2].map(() => new Map<string, unknown>());
  const worker = async (who: number) => {
    // Only this handle changes its rows.
    const model = models[who] as Map<string, unknown>;
    for (let turn = 0; turn < 25; turn++) {
      const db = handles[who] as Store;
      await act(db, who, model, from, own, begin);
      if (from.below(12) === 0) {
        await db.close();
        handles[who] = await open('test', { storage });
      }
    }
  };
  await within(Promise.all([0, 1, 2].map(worker)), 50_000);
  const expected = sorted(models.flatMap((model) => [...model]));
  for (const db of handles) await db.health.compact().catch(() => {});
  const fresh = await open('test', { storage, advanced: { cacheBytes: 0 } });
  expectSame(await all(fresh), expected);
  await Promise.all([fresh, ...handles].map((db) => db.close()));
}

async function act(
  db: Store,
  who: number,
  model: Map<string, unknown>,
  from: Random,
  own: (who: number, at: number) => string,
  begin: BeginStep,
): Promise<void> {
  const value = () => (from.below(20) === 0 ? from.bytes(6000) : from.below(1e9));
  const kind = from.below(6);
  begin({ who, kind: ['putMany', 'put', 'put', 'delete', 'reads', 'collect'][kind] });
  switch (kind) {
    case 0: {
      const entries = Array.from(
        { length: from.below(300) },
        (): Entry => [own(who, from.below(1000)), value()],
      );
      await db.putMany(entries);
      for (const [key, put] of entries) model.set(key, put);
      break;
    }
    case 1:
    case 2: {
      const [key, put] = [own(who, from.below(1000)), value()];
      await db.put(key, put);
      model.set(key, put);
      break;
    }
    case 3: {
      const key = own(who, from.below(1000));
      await db.delete(key);
      model.delete(key);
      break;
    }
    case 4: {
      const before = sorted(model);
      const seen: Entry[] = [];
      for await (const entry of db.scan({ prefix: `${who}/` })) {
        seen.push(entry);
        if (from.below(40) === 0) await new Promise((resolve) => setTimeout(resolve, 0));
      }
      expectSame(seen, before, `scan of ${who}`);
      const key = own(who, from.below(1000));
      expectSame(await db.get(key), model.get(key), `get ${key}`);
      break;
    }
    default:
      await db.health
        .compact()
        .catch((cause: unknown) => expect(cause).toEqual(failure('blocked')));
  }
}
