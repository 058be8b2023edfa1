/** The report of a store on the health of its storage. */
import { describe, expect, it, vi } from 'vitest';
import { type Health, memory } from '../../src/index.js';
import { idb } from '../../src/storage/idb/idb.js';
import type { Storage } from '../../src/storage/segment-store.js';
import { faulty } from '../support/doubles/faulty-storage.js';
import { HostileEngine } from '../support/doubles/hostile-idb/engine.js';
import { install } from '../support/doubles/hostile-idb/install.js';
import { failure, SOON } from '../support/models/store-model.js';
import { random } from '../support/random.js';
import { startCore } from '../support/start-core.js';
import {
  BROKEN,
  cleansUp,
  of,
  open,
  platform,
  QUOTA,
  settled,
  told,
} from '../support/worlds/health-world.js';

cleansUp();

describe('health()', () => {
  for (const [lifetime, persisted, state] of [
    ['session', true, 'ephemeral'],
    ['permanent', false, 'persistent'],
    ['origin', true, 'persistent'],
    ['origin', false, 'best-effort'],
    [undefined, true, 'persistent'],
    [undefined, false, 'best-effort'],
  ] as const) {
    it(`of storage for ${lifetime}, which ${persisted ? 'is' : 'is not'} persistent, is ${state}`, async () => {
      platform({ persisted, quota: 1 << 30, usage: 7 });
      const db = await open('a', { storage: of(lifetime) });
      const isOfOrigin = lifetime === 'origin' || lifetime === undefined;
      const health = await db.health.get();
      expect(health).toMatchObject({
        state,
        cause: undefined,
        isPersistent: state === 'persistent',
        quotaBytes: isOfOrigin ? 1 << 30 : undefined,
        usageBytes: isOfOrigin ? 7 : undefined,
        isNearQuota: isOfOrigin ? false : undefined,
        honoursStrict: undefined,
      });
      expect(health.message).toMatch(/^[A-Z].*\.$/);
    });
  }

  it('makes no claim without an answer of the platform', async () => {
    for (const navigator of [undefined, {}, { storage: {} }]) {
      vi.stubGlobal('navigator', navigator);
      const { message, ...health } = await (
        await open('a', { storage: of('origin') })
      ).health.get();
      expect(health).toEqual({
        state: 'best-effort',
        cause: undefined,
        quotaBytes: undefined,
        usageBytes: undefined,
        isPersistent: undefined,
        isNearQuota: undefined,
        honoursStrict: undefined,
      });
    }
  });

  it('is ephemeral in a private window, where the storage knows, and not where persistent', async () => {
    const { told } = platform();
    for (const [isPrivate, state] of [
      [async () => true, 'ephemeral'],
      [async () => false, 'best-effort'],
      [async () => undefined, 'best-effort'],
      [() => Promise.reject(new Error('no')), 'best-effort'],
    ] as const) {
      const db = await open('a', { storage: { ...of('origin'), isPrivate } });
      told.persisted = false;
      expect((await db.health.get()).state).toBe(state);
      told.persisted = true;
      expect((await db.health.get()).state).toBe('persistent');
    }
  });

  it('says whether strict writes are flushed', async () => {
    for (const honoursStrict of [true, false]) {
      const storage = of('origin');
      const wrapped: Storage = {
        ...storage,
        open: async (...args) => Object.assign(await storage.open(...args), { honoursStrict }),
      };
      const db = await open('a', { storage: wrapped });
      expect((await db.health.get()).honoursStrict).toBe(honoursStrict);
      expect((await db.health.stats()).honoursStrict).toBe(honoursStrict);
    }
  });

  const MIB = 1 << 20;
  for (const [quota, left, isNear] of [
    [10_000 * MIB, 1000 * MIB, false],
    [10_000 * MIB, 1000 * MIB - 1, true],
    [640 * MIB, 64 * MIB, false],
    [640 * MIB, 64 * MIB - 1, true],
    [100 * MIB, 64 * MIB, false],
    [100 * MIB, 64 * MIB - 1, true],
    [100 * MIB, -MIB, true],
  ] as const) {
    it(`with ${left} of ${quota} bytes left is ${isNear ? '' : 'not '}near the quota`, async () => {
      platform({ quota, usage: quota - left });
      const db = await open('a', { storage: of('origin') });
      expect((await db.health.get()).isNearQuota).toBe(isNear);
    });
  }

  it('waits at most 5 s for a platform that never answers', async () => {
    const never = () => new Promise<never>(() => {});
    vi.stubGlobal('navigator', { storage: { estimate: never, persisted: never } });
    const db = await open('a', { storage: of('origin') });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      let health: Health | undefined;
      const asking = db.health.get().then((now) => {
        health = now;
      });
      await vi.advanceTimersByTimeAsync(4900);
      expect(health).toBeUndefined();
      await vi.advanceTimersByTimeAsync(200);
      await asking;
      expect(health).toMatchObject({ state: 'best-effort', quotaBytes: undefined });
    } finally {
      vi.useRealTimers();
    }
  });

  it('rejects on a closed handle', async () => {
    const db = await open('a', { storage: memory() });
    const branch = await db.branches.open('b');
    await branch.close();
    for (const closed of [branch, db]) {
      await closed.close();
      await expect(closed.health.get()).rejects.toEqual(failure('closed'));
      await expect(closed.health.persist()).rejects.toEqual(failure('closed'));
      expect(() => closed.health.subscribe(() => {})).toThrow(
        failure('closed') as unknown as Error,
      );
    }
  });
});

describe('storage that fails', () => {
  it('a write without room is failing until rows were written, whatever reads and deletions do', async () => {
    platform();
    const storage = faulty(of('origin'));
    const db = await open('a', { storage });
    const listener = vi.fn();
    db.health.subscribe(listener);
    await db.put('a', 1);
    storage.fail({ call: 'write', at: storage.calls('write') + 1, when: 'before', error: QUOTA });
    await expect(db.put('b', 1)).rejects.toEqual(failure('quota-exceeded'));
    expect(await db.health.get()).toMatchObject({
      state: 'failing',
      cause: QUOTA,
      isNearQuota: false,
    });
    expect(await db.get('a')).toBe(1);
    await db.delete('a');
    expect(await db.health.get()).toMatchObject({ state: 'failing', cause: QUOTA });
    await db.put('b', 1);
    expect(await db.health.get()).toMatchObject({ state: 'best-effort', cause: undefined });
    await vi.waitFor(
      () => expect(told(listener)).toEqual(['failing quota-exceeded', 'best-effort']),
      { timeout: 5000 },
    );
  });

  it('a failed read is failing until one works, whatever writes do', async () => {
    const storage = faulty(of('origin'));
    const full = await open('a', { storage });
    const values = Array.from({ length: 20 }, (_, at) => random(at).bytes(200_000));
    await full.putMany(values.map((value, at) => [String(at), value]));
    await full.close();
    const db = await open('a', { storage });
    await startCore(db);
    // Its nodes are in memory from now on, and its values are not.
    await db.get('no such row');
    storage.fail({ call: 'read', at: 1, lasting: true, when: 'before', error: BROKEN });
    await expect(db.get('0')).rejects.toEqual(failure('unavailable/storage'));
    await db.put('b', 1);
    expect(await db.health.get()).toMatchObject({ state: 'failing', cause: BROKEN });
    expect((await db.health.get()).message).toMatch(/read/);
    storage.heal();
    expect(await db.get('0')).toEqual(values[0]);
    expect((await db.health.get()).state).toBe('best-effort');
  });

  it('a foreign error is reported as storage, with its cause', async () => {
    const error = new TypeError('an adapter of somebody');
    const storage = faulty(of('origin'));
    const db = await open('a', { storage });
    storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error });
    await db.put('a', 1).catch(() => {});
    expect((await db.health.get()).cause).toMatchObject({
      code: 'unavailable',
      detail: 'storage',
      cause: error,
    });
  });

  it('is reported to the listeners of every handle, and of branches', async () => {
    const storage = faulty(of('origin'));
    const db = await open('a', { storage });
    const branch = await db.branches.open('b');
    const listeners = [vi.fn(), vi.fn()] as const;
    db.health.subscribe(listeners[0]);
    branch.health.subscribe(listeners[1]);
    storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error: BROKEN });
    await expect(branch.put('a', 1)).rejects.toEqual(failure('unavailable/storage'));
    for (const listener of listeners) {
      await vi.waitFor(() => expect(told(listener)).toEqual(['failing unavailable/storage']), SOON);
    }
  });

  it('many failures are reported once', async () => {
    const storage = faulty(of('origin'));
    const db = await open('a', { storage });
    const listener = vi.fn();
    db.health.subscribe(listener);
    storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error: QUOTA });
    for (let at = 0; at < 50; at++) await db.put('a', at).catch(() => {});
    await settled();
    expect(told(listener)).toEqual(['failing quota-exceeded']);
  });

  it('a real adapter without room reports the exception of its engine, in each engine', async () => {
    for (const kind of ['chromium', 'firefox', 'webkit'] as const) {
      const engine = new HostileEngine(kind, random(1));
      const uninstall = install(engine);
      const db = await open('a', { storage: idb({ exclusive: true }) });
      const listener = vi.fn();
      db.health.subscribe(listener);
      await db.put('a', 1);
      engine.quota = engine.used + 100;
      const value = random(2).bytes(100_000);
      await expect(db.put('b', value)).rejects.toEqual(failure('quota-exceeded'));
      await vi.waitFor(() => expect(told(listener)).toEqual(['failing quota-exceeded']), SOON);
      expect(await db.get('a')).toBe(1);
      engine.quota = Number.POSITIVE_INFINITY;
      await db.put('b', value);
      expect((await db.health.get()).state).toBe('best-effort');
      await db.close();
      uninstall();
    }
  });
});
