/** The opening of stores: missing or new, gone while open, and the answers of the platform. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { destroy, memory, open } from '../../src/index.js';
import { faulty } from '../support/doubles/faulty-storage.js';
import { failure, SOON } from '../support/models/store-model.js';
import { startCore } from '../support/start-core.js';

/** Storage that the browser may clear. */
const kept = () => ({ ...memory(), lifetime: 'origin' as const });

/** Runs the queued callbacks. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

describe('mustExist: true', () => {
  it('rejects with missing without a store, and does not make one', async () => {
    const storage = memory();
    const find = () => open('a', { storage, advanced: { mustExist: true } });
    await expect(find()).rejects.toEqual(failure('not-found/store', { retryable: false }));
    await expect(find()).rejects.toEqual(failure('not-found/store'));
    const db = await open('a', { storage });
    await db.put('k', 1);
    expect(await (await find()).get('k')).toBe(1);
    await db.close();
    expect(await (await find()).get('k')).toBe(1);
    await destroy('a', { storage });
    await expect(find()).rejects.toEqual(failure('not-found/store'));
  });

  it('finds a store without a single write', async () => {
    const storage = memory();
    await (await open('a', { storage })).close();
    expect(await (await open('a', { storage, advanced: { mustExist: true } })).count()).toBe(0);
  });
});

describe('onDeleted', () => {
  it('is called once when the store is deleted, and calls fail with closed then', async () => {
    const storage = faulty(memory());
    const onDeleted = vi.fn();
    const db = await open('a', { storage, advanced: { onDeleted } });
    await db.put('k', 1);
    await destroy('a', { storage });
    await settled();
    expect(onDeleted).toHaveBeenCalledOnce();
    for (const call of [db.put('k', 2), db.health.verify(), db.health.repair()]) {
      await expect(call).rejects.toEqual(failure('closed'));
    }
    await db.close();
    expect(onDeleted).toHaveBeenCalledOnce();
    // Another store of that name is a new one.
    const next = await open('a', { storage });
    await next.put('other', 1);
    await expect(db.put('k', 2)).rejects.toEqual(failure('closed'));
    expect(await next.count()).toBe(1);
  });

  it('is not called for a store that was closed before, nor for another', async () => {
    const storage = memory();
    const onDeleted = vi.fn();
    const closed = await open('a', { storage, advanced: { onDeleted } });
    const other = await open('b', { storage, advanced: { onDeleted } });
    await closed.close();
    await destroy('a', { storage });
    await settled();
    expect(onDeleted).not.toHaveBeenCalled();
    await other.close();
  });
});

describe('persistence', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('is undefined without an answer of the platform', async () => {
    const nothing = { quotaBytes: undefined, usageBytes: undefined, isPersistent: undefined };
    const silent: unknown[] = [
      undefined,
      {},
      { storage: undefined },
      { storage: {} },
      { storage: { estimate: () => Promise.reject(new TypeError('insecure')) } },
      {
        storage: {
          persisted() {
            throw new TypeError('no');
          },
        },
      },
    ];
    for (const navigator of silent) {
      vi.stubGlobal('navigator', navigator);
      const db = await open('a', { storage: memory() });
      await db.health.persist();
      expect(await db.health.stats()).toMatchObject(nothing);
    }
  });

  it('is the answer of the platform, and is requested only on demand', async () => {
    let isPersistent = false;
    const persist = vi.fn(async () => {
      isPersistent = true;
      return true;
    });
    const estimate = async () => ({ quota: 100, usage: 7 });
    const persisted = async () => isPersistent;
    vi.stubGlobal('navigator', { storage: { estimate, persisted, persist } });
    const db = await open('a', { storage: kept() });
    const told = { quotaBytes: 100, usageBytes: 7 };
    expect(await db.health.stats()).toMatchObject({ ...told, isPersistent: false });
    expect(persist).not.toHaveBeenCalled();
    const asking = await open('b', { storage: kept() });
    await asking.health.persist();
    expect(await asking.health.stats()).toMatchObject({ ...told, isPersistent: true });
    expect(persist).toHaveBeenCalledOnce();
  });

  it('does not wait for a permission that is neither granted nor refused', async () => {
    const persist = () => new Promise<boolean>(() => {});
    vi.stubGlobal('navigator', { storage: { persist } });
    const db = await open('a', { storage: kept() });
    void db.health.persist();
    expect((await db.health.stats()).isPersistent).toBeUndefined();
    for (const broken of [() => Promise.reject(new TypeError('no')), 7]) {
      vi.stubGlobal('navigator', { storage: { persist: broken } });
      await (await open('a', { storage: kept() })).health.persist();
    }
  });
});

describe('a store that is read while its core starts', () => {
  afterEach(() => vi.restoreAllMocks());

  /** Holds up the core of the next store until the returned function is called. */
  function coreWaits(): () => void {
    let start = () => {};
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    const { instantiate } = WebAssembly;
    const later = async (module: WebAssembly.Module, imports?: WebAssembly.Imports) => {
      await started;
      return instantiate(module, imports);
    };
    vi.spyOn(WebAssembly, 'instantiate').mockImplementationOnce(later as never);
    return start;
  }

  it('is read before that', async () => {
    const storage = memory();
    await (await open('a', { storage })).close();
    const start = coreWaits();
    const load = vi.fn();
    const counted = {
      ...storage,
      open: async (...args: Parameters<typeof storage.open>) => {
        const segments = await storage.open(...args);
        const { load: inner } = segments;
        segments.load = (...given) => {
          load();
          return inner.apply(segments, given);
        };
        return segments;
      },
    };
    const db = await open('a', { storage: counted });
    const starting = startCore(db);
    await settled();
    expect(load).toHaveBeenCalledOnce();
    start();
    await starting;
    // The core takes what the reader has, and reads where the refs stand by now.
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('hears of commits by others during the start', async () => {
    const storage = memory();
    const other = await open('a', { storage });
    await startCore(other);
    const start = coreWaits();
    const db = await open('a', { storage });
    const starting = startCore(db);
    await settled();
    await other.put('k', 1);
    start();
    await starting;
    await vi.waitFor(async () => expect(await db.get('k')).toBe(1), SOON);
  });

  it('is closed if it was deleted during the start', async () => {
    const storage = memory();
    await (await open('a', { storage })).close();
    const start = coreWaits();
    const onDeleted = vi.fn();
    const db = await open('a', { storage, advanced: { onDeleted } });
    const starting = startCore(db);
    await settled();
    await destroy('a', { storage });
    start();
    await expect(starting).rejects.toEqual(failure('closed'));
    await expect(db.get('k')).rejects.toEqual(failure('closed'));
    expect(onDeleted).toHaveBeenCalledOnce();
  });
});
