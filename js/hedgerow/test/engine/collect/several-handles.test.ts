/** Several handles of a store collect, one at a time, and each finds its rows. */
import { describe, expect, it } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import { collectOnDemand } from '../../support/collect-on-demand.js';
import { rows, settled, storedBytes } from '../../support/collected-rows.js';
import { watched } from '../../support/doubles/watched-storage.js';
import {
  all,
  type Entry,
  expectSame,
  failure,
  sorted,
  within,
} from '../../support/models/store-model.js';
import { type BeginStep, forSeeds, isDeep } from '../../support/property.js';
import type { Random } from '../../support/random.js';

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
    // Another collection could delete the commits first.
    collectOnDemand();
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
