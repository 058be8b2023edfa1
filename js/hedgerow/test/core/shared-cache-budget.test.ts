/** The stores of a page share one memory budget for their caches. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { leave, rebalance, type Sharer } from '../../src/core/shared-cache-budget.js';
import { memory, open, type Store } from '../../src/index.js';
import type { Storage } from '../../src/storage/segment-store.js';
import type { Entry } from '../support/models/store-model.js';
import { noise } from '../support/noise.js';
import { startCore } from '../support/start-core.js';

const MIB = 1 << 20;

/** Makes a cache that holds as much as was read, up to its budget. */
class Cache implements Sharer {
  budget = 0;
  #held = 0;

  fitCache(bytes: number): number {
    this.budget = bytes;
    this.#held = Math.min(this.#held, bytes);
    return this.#held;
  }

  read(bytes: number): void {
    this.#held += bytes;
    rebalance(this);
  }
}

const made: Cache[] = [];

function caches(count: number): Cache[] {
  const fresh = Array.from({ length: count }, () => new Cache());
  for (const cache of fresh) rebalance(cache);
  made.push(...fresh);
  return fresh;
}

const budgets = (all: readonly Cache[]) => all.map(({ budget }) => budget / MIB);

afterEach(() => {
  for (const cache of made.splice(0)) leave(cache);
  vi.unstubAllGlobals();
});

describe('the budget of a page', () => {
  it('gives a store the rest that the others leave, and at least an equal part', () => {
    const [a, b] = caches(2) as [Cache, Cache];
    expect(budgets([a, b])).toEqual([64, 64]);
    a.read(100 * MIB);
    expect(budgets([a, b])).toEqual([64, 32]);
    b.read(8 * MIB);
    expect(budgets([a, b])).toEqual([56, 32]);
    b.read(50 * MIB);
    expect(budgets([a, b])).toEqual([32, 32]);
    leave(b);
    a.read(MIB);
    expect(budgets([a])).toEqual([64]);
  });

  it.each([
    [undefined, 64],
    [8, 64],
    [2, 32],
    [0.25, 16],
  ])('on a device of %s GiB is %i MiB', (deviceMemory, expected) => {
    vi.stubGlobal('navigator', { deviceMemory });
    const [cache] = caches(1) as [Cache];
    expect(budgets([cache])).toEqual([expected]);
  });

  it('holds for two stores that read more than it holds', async () => {
    const fill = async (): Promise<Store> => {
      const storage = memory();
      const db = await open('filled', { storage });
      await db.putMany(
        Array.from({ length: 50_000 }, (_, at): Entry => [`row/${at + 100_000}`, noise(at, 1000)]),
      );
      await db.close();
      return open('filled', { storage });
    };
    const cachedMib = async (db: Store) => (await db.health.stats()).cachedBytes / MIB;
    const [a, b] = [await fill(), await fill()];
    await a.scan().toArray();
    expect(await cachedMib(a)).toBeGreaterThan(40);
    await b.scan().toArray();
    expect(await cachedMib(b)).toBeGreaterThan(25);
    expect((await cachedMib(a)) + (await cachedMib(b))).toBeLessThan(66);
    await a.close();
    await b.close();
  });

  it('has no part for a closed store, however it closed, nor for one that failed to open', async () => {
    const storage = memory();
    const db = await open('gone', { storage });
    await db.putMany(
      Array.from({ length: 5000 }, (_, at): Entry => [`row/${at + 10_000}`, noise(at, 1000)]),
    );
    await db.close();
    const early = await open('gone', { storage });
    await early.get('row/10000');
    await early.close();
    // The reader has a scan under way when the core starts.
    const late = await open('gone', { storage });
    const rows = late.scan()[Symbol.asyncIterator]();
    await rows.next();
    await startCore(late);
    while ((await rows.next()).done !== true) {}
    await late.close();
    // The core fails to start: the reader has gone by then.
    let isLost = false;
    const losing: Storage = {
      ...storage,
      open: async (...args) => {
        const store = await storage.open(...args);
        const load: typeof store.load = async (...what) => {
          if (isLost) throw new Error('no');
          return store.load(...what);
        };
        return new Proxy(store, {
          get: (target, name) => {
            if (name === 'load') return load;
            const member = Reflect.get(target, name, target);
            return typeof member === 'function' ? member.bind(target) : member;
          },
        });
      },
    };
    const failing = await open('gone', { storage: losing });
    await failing.scan({ limit: 100 }).toArray();
    isLost = true;
    await expect(startCore(failing)).rejects.toThrow();
    await failing.close();
    const damaged: Storage = {
      ...storage,
      open: async (...args) => {
        const store = await storage.open(...args);
        return Object.assign(store, { read: async () => Promise.reject(new Error('no')) });
      },
    };
    await expect(open('gone', { storage: damaged })).rejects.toThrow();
    const [a, b] = caches(2) as [Cache, Cache];
    b.read(64 * MIB);
    a.read(64 * MIB);
    expect(budgets([a, b])).toEqual([32, 32]);
  });

  it('does not apply to a store with a limit of its own', async () => {
    const [cache] = caches(1) as [Cache];
    const db = await open('own', { storage: memory(), advanced: { cacheBytes: 40 * MIB } });
    await db.put('key', 'value');
    cache.read(MIB);
    expect(budgets([cache])).toEqual([64]);
    await db.close();
  });
});
