/** What a store says of the health of its storage, and when it calls those who listen. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HedgerowError } from '../src/base/errors.js';
import {
  destroy,
  type Health,
  memory,
  type OpenOptions,
  open as opening,
  persist,
  preload,
  type Store,
} from '../src/index.js';
import { faulty } from '../src/storage/faulty.js';
import { idb } from '../src/storage/idb/idb.js';
import type { Lifetime, Storage, WriteBatch } from '../src/storage/segment-store.js';
import { HealthTeller, healthOf } from '../src/store/health-teller.js';
import { HealthWatch } from '../src/store/health-watch.js';
import { HostileEngine } from './hostile-idb/engine.js';
import { failure } from './model.js';
import { forSeeds } from './property.js';
import { random } from './random.js';

/** Listeners are called at most once in so many milliseconds. */
const TELL_MS = 1000;
const QUOTA = new HedgerowError('quota-exceeded', 'for a test');
const LOST = new HedgerowError('disconnected', 'for a test');
const BROKEN = new HedgerowError('storage', 'for a test');

const of = (lifetime: Lifetime | undefined): Storage => {
  const { lifetime: _, ...storage } = memory();
  return lifetime === undefined ? storage : { ...storage, lifetime };
};

const segments = [{ id: 1, segmentBytes: new Uint8Array(9), tableBytes: new Uint8Array(9) }];
const to = { commitBytes: new Uint8Array(32), generation: 2, format: 1, expected: 1 };
const move = { ...to, name: 'main' };
const durability = 'relaxed';
const COMMIT: WriteBatch = { segments, move, durability };
/** A commit of rows, what a collection writes, a deletion, and a move of a ref. */
const BATCHES = [
  COMMIT,
  { segments, durability },
  { segments, move, durability, makesRoom: true },
  { segments: [], move, durability },
] as const;

const opened: Store[] = [];

/** Opens a store that is closed after the test: its listeners must not look into the next one. */
async function open(name: string, options: OpenOptions): Promise<Store> {
  const db = await opening(name, options);
  opened.push(db);
  return db;
}

/** A platform that tells this of its storage. */
function platform(answers: { quota?: number; usage?: number; persisted?: boolean } = {}) {
  const told = { quota: 1 << 30, usage: 0, persisted: false, ...answers };
  const storage = {
    estimate: vi.fn(async () => ({ quota: told.quota, usage: told.usage })),
    persisted: vi.fn(async () => told.persisted),
    persist: vi.fn(async () => told.persisted),
  };
  vi.stubGlobal('navigator', { storage });
  return { told, storage };
}

const told = (listener: { mock: { calls: Health[][] } }) =>
  listener.mock.calls
    .flat()
    .map(({ state, cause, isNearQuota }) =>
      [state, cause?.code, isNearQuota && 'near'].filter(Boolean).join(' '),
    );

/** Long enough for everything that is due now, and not for what waits until it may be told. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 50));

beforeEach(() => preload());
afterEach(async () => {
  await Promise.all(opened.splice(0).map((db) => db.close()));
  vi.unstubAllGlobals();
});

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
      const health = await db.health();
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

  it('claims nothing where the platform tells nothing', async () => {
    for (const navigator of [undefined, {}, { storage: {} }]) {
      vi.stubGlobal('navigator', navigator);
      const { message, ...health } = await (await open('a', { storage: of('origin') })).health();
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
      expect((await db.health()).state).toBe(state);
      told.persisted = true;
      expect((await db.health()).state).toBe('persistent');
    }
  });

  it('tells whether strict writes are flushed', async () => {
    for (const honoursStrict of [true, false]) {
      const storage = of('origin');
      const wrapped: Storage = {
        ...storage,
        open: async (...args) => Object.assign(await storage.open(...args), { honoursStrict }),
      };
      const db = await open('a', { storage: wrapped });
      expect((await db.health()).honoursStrict).toBe(honoursStrict);
      expect((await db.stats()).honoursStrict).toBe(honoursStrict);
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
      expect((await db.health()).isNearQuota).toBe(isNear);
    });
  }

  it('does not wait longer than 5 s for a platform that never answers', async () => {
    const never = () => new Promise<never>(() => {});
    vi.stubGlobal('navigator', { storage: { estimate: never, persisted: never } });
    const db = await open('a', { storage: of('origin') });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      let health: Health | undefined;
      const asking = db.health().then((now) => {
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

  it('is not to be had of a handle that is closed', async () => {
    const db = await open('a', { storage: memory() });
    const branch = await db.branch('b');
    await branch.close();
    for (const closed of [branch, db]) {
      await closed.close();
      await expect(closed.health()).rejects.toEqual(failure('closed'));
      await expect(closed.persist()).rejects.toEqual(failure('closed'));
      expect(() => closed.onHealth(() => {})).toThrow(failure('closed') as unknown as Error);
    }
  });
});

describe('storage that fails', () => {
  it('a write without room is failing until rows were written; reads and deletions do not show that', async () => {
    platform();
    const storage = faulty(of('origin'));
    const db = await open('a', { storage });
    const listener = vi.fn();
    db.onHealth(listener);
    await db.put('a', 1);
    storage.fail({ call: 'write', at: storage.calls('write') + 1, when: 'before', error: QUOTA });
    await expect(db.put('b', 1)).rejects.toEqual(failure('quota-exceeded'));
    expect(await db.health()).toMatchObject({ state: 'failing', cause: QUOTA, isNearQuota: false });
    expect(await db.get('a')).toBe(1);
    await db.delete('a');
    expect(await db.health()).toMatchObject({ state: 'failing', cause: QUOTA });
    await db.put('b', 1);
    expect(await db.health()).toMatchObject({ state: 'best-effort', cause: undefined });
    await vi.waitFor(
      () => expect(told(listener)).toEqual(['failing quota-exceeded', 'best-effort']),
      { timeout: 5000 },
    );
  });

  it('a read that fails is failing until one works; a write does not show that', async () => {
    const storage = faulty(of('origin'));
    const full = await open('a', { storage });
    const values = Array.from({ length: 20 }, (_, at) => random(at).bytes(200_000));
    await full.putMany(values.map((value, at) => [String(at), value]));
    await full.close();
    const db = await open('a', { storage });
    storage.fail({ call: 'read', at: 1, lasting: true, when: 'before', error: BROKEN });
    await expect(db.get('0')).rejects.toEqual(failure('storage'));
    await db.put('b', 1);
    expect(await db.health()).toMatchObject({ state: 'failing', cause: BROKEN });
    expect((await db.health()).message).toMatch(/read/);
    storage.heal();
    expect(await db.get('0')).toEqual(values[0]);
    expect((await db.health()).state).toBe('best-effort');
  });

  it('that is not of the wrapper is told as storage, with its cause', async () => {
    const error = new TypeError('an adapter of somebody');
    const storage = faulty(of('origin'));
    const db = await open('a', { storage });
    storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error });
    await db.put('a', 1).catch(() => {});
    expect((await db.health()).cause).toMatchObject({ code: 'storage', cause: error });
  });

  it('is told to listeners of every handle, and of branches', async () => {
    const storage = faulty(of('origin'));
    const db = await open('a', { storage });
    const branch = await db.branch('b');
    const listeners = [vi.fn(), vi.fn()] as const;
    db.onHealth(listeners[0]);
    branch.onHealth(listeners[1]);
    storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error: BROKEN });
    await expect(branch.put('a', 1)).rejects.toEqual(failure('storage'));
    for (const listener of listeners) {
      await vi.waitFor(() => expect(told(listener)).toEqual(['failing storage']));
    }
  });

  it('many failures are told once', async () => {
    const storage = faulty(of('origin'));
    const db = await open('a', { storage });
    const listener = vi.fn();
    db.onHealth(listener);
    storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error: QUOTA });
    for (let at = 0; at < 50; at++) await db.put('a', at).catch(() => {});
    await settled();
    expect(told(listener)).toEqual(['failing quota-exceeded']);
  });

  it('in a real adapter without room is told with what the engine threw, in each engine', async () => {
    for (const kind of ['chromium', 'firefox', 'webkit'] as const) {
      const engine = new HostileEngine(kind, random(1));
      Object.assign(globalThis, engine.globals);
      const db = await open('a', { storage: idb({ exclusive: true }) });
      const listener = vi.fn();
      db.onHealth(listener);
      await db.put('a', 1);
      engine.quota = engine.used + 100;
      const value = random(2).bytes(100_000);
      await expect(db.put('b', value)).rejects.toEqual(failure('quota-exceeded'));
      await vi.waitFor(() => expect(told(listener)).toEqual(['failing quota-exceeded']));
      expect(await db.get('a')).toBe(1);
      engine.quota = Number.POSITIVE_INFINITY;
      await db.put('b', value);
      expect((await db.health()).state).toBe('best-effort');
      await db.close();
      for (const name of Object.keys(engine.globals)) Reflect.deleteProperty(globalThis, name);
    }
  });
});

describe('onHealth', () => {
  it('calls nobody while all is well, and asks nothing when nobody listens', async () => {
    const { storage: manager } = platform();
    const db = await open('a', { storage: of('origin') });
    for (let at = 0; at < 100; at++) await db.put('a', at);
    expect(manager.estimate).not.toHaveBeenCalled();
    const listener = vi.fn();
    db.onHealth(listener);
    for (let at = 0; at < 100; at++) await db.put('a', at);
    await settled();
    expect(listener).not.toHaveBeenCalled();
    // At the call of `onHealth`, and not again within 10 s.
    expect(manager.estimate).toHaveBeenCalledTimes(1);
  });

  it('tells soon what is wrong already', async () => {
    const { told: answers } = platform({ quota: 1000, usage: 999 });
    const db = await open('a', { storage: of('origin') });
    const near = vi.fn();
    db.onHealth(near);
    await vi.waitFor(() => expect(told(near)).toEqual(['best-effort near']));
    const inMemory = vi.fn();
    answers.usage = 0;
    (await open('b', { storage: memory() })).onHealth(inMemory);
    await vi.waitFor(() => expect(told(inMemory)).toEqual(['ephemeral']));
  });

  it('tells that the quota comes near while much is written, and not after each write', async () => {
    const { told: answers, storage: manager } = platform();
    const db = await open('a', { storage: of('origin') });
    const listener = vi.fn();
    db.onHealth(listener);
    await settled();
    answers.usage = answers.quota;
    const puts = async (count: number) => {
      for (let at = 0; at < count; at++) await db.put('a', random(at).bytes(1 << 20));
    };
    await puts(15);
    await settled();
    expect(listener).not.toHaveBeenCalled();
    await puts(1);
    await vi.waitFor(() => expect(told(listener)).toEqual(['best-effort near']));
    expect(manager.estimate).toHaveBeenCalledTimes(2);
  });

  it('a listener that throws, or rejects, harms neither others nor the store', async () => {
    const report = vi.fn();
    vi.stubGlobal('reportError', report);
    platform({ quota: 1000, usage: 999 });
    const db = await open('a', { storage: of('origin') });
    const [thrown, rejected] = [new Error('thrown'), new Error('rejected')];
    const last = vi.fn();
    db.onHealth(() => {
      throw thrown;
    });
    db.onHealth(async () => {
      throw rejected;
    });
    db.onHealth(last);
    await vi.waitFor(() => expect(last).toHaveBeenCalledOnce());
    await settled();
    expect(report.mock.calls.flat()).toEqual([thrown, rejected]);
    await db.put('a', 1);
  });

  it('ends when it is stopped, and two of one function are two', async () => {
    const storage = faulty(of('origin'));
    const db = await open('a', { storage });
    const listener = vi.fn();
    const stop = db.onHealth(listener);
    db.onHealth(listener);
    stop();
    stop();
    storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error: BROKEN });
    await db.put('a', 1).catch(() => {});
    await settled();
    expect(listener).toHaveBeenCalledOnce();
  });

  it('ends with the store, and tells once more when it was deleted', async () => {
    for (const isDeleted of [false, true]) {
      const storage = of('origin');
      const db = await open('a', { storage });
      const listener = vi.fn();
      db.onHealth(listener);
      await settled();
      if (isDeleted) await destroy('a', { storage });
      else await db.close();
      await settled();
      expect(told(listener)).toEqual(isDeleted ? ['failing closed'] : []);
    }
  });

  it('tells each change once, at most once a second, whatever fails and works', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      await forSeeds(100, async (from, _seed, begin) => {
        const watch = new HealthWatch(of('origin'));
        const states: string[] = [];
        let [atMs, expected] = [-Infinity, ''];
        watch.on(({ state, cause }) => {
          expect(performance.now() - atMs).toBeGreaterThanOrEqual(TELL_MS);
          atMs = performance.now();
          states.push(`${state} ${cause?.code}`);
        });
        await vi.advanceTimersByTimeAsync(2 * TELL_MS);
        // What the last calls of each kind came to, as the documentation has it.
        const last: { read?: HedgerowError | undefined; write?: HedgerowError | undefined } = {};
        for (let step = 0; step < 40; step++) {
          const kind = from.pick(['read', 'write'] as const);
          const other = kind === 'read' ? 'write' : 'read';
          const error = from.pick([undefined, undefined, QUOTA, LOST, BROKEN]);
          const batch = kind === 'write' ? from.pick(BATCHES) : undefined;
          begin({ kind, code: error?.code, batch: batch && BATCHES.indexOf(batch) });
          if (error === undefined) {
            watch.worked(kind, batch);
            const isRoom = kind === 'read' || batch === COMMIT;
            if (isRoom || last[kind] !== QUOTA) last[kind] = undefined;
            if (last[other] === LOST) last[other] = undefined;
          } else {
            watch.failed(kind, error);
            last[kind] = error;
          }
          if (from.below(2) > 0) continue;
          await vi.advanceTimersByTimeAsync(2 * TELL_MS);
          const cause = last.write ?? last.read;
          const now = `${cause ? 'failing' : 'best-effort'} ${cause?.code}`;
          expect(await healthOf(watch)).toMatchObject({ cause });
          expect(states.at(-1) ?? 'best-effort undefined').toBe(now);
          expected = now;
        }
        for (const [at, state] of states.entries()) expect(state).not.toBe(states[at - 1]);
        expect(expected).not.toBe('');
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it('what goes wrong with a look is reported, and the next look tells', async () => {
    const report = vi.fn();
    vi.stubGlobal('reportError', report);
    platform({ quota: 1000, usage: 999 });
    const error = new HedgerowError('not-loaded', 'for a test');
    const look = vi.spyOn(HealthTeller.prototype, 'look').mockRejectedValueOnce(error);
    const watch = new HealthWatch(of('origin'));
    const listener = vi.fn();
    watch.on(listener);
    await vi.waitFor(() => expect(report.mock.calls).toEqual([[error]]));
    expect(listener).not.toHaveBeenCalled();
    watch.look();
    await vi.waitFor(() => expect(told(listener)).toEqual(['best-effort near']));
    look.mockRestore();
  });
});

describe('persist()', () => {
  it('asks in the turn of its call, resolves to the answer, and tells the change', async () => {
    const { told: answers, storage: manager } = platform();
    const db = await open('a', { storage: of('origin') });
    const listener = vi.fn();
    db.onHealth(listener);
    await settled();
    const refused = db.persist();
    expect(manager.persist).toHaveBeenCalledOnce();
    expect(await refused).toBe(false);
    answers.persisted = true;
    const granted = db.persist();
    expect(manager.persist).toHaveBeenCalledTimes(2);
    expect(await granted).toBe(true);
    expect(await persist()).toBe(true);
    await vi.waitFor(() => expect(told(listener)).toEqual(['persistent']));
  });

  it('an answer to open({ persist: true }) is told, too', async () => {
    const { told: answers, storage: manager } = platform();
    let answer = (_: boolean) => {};
    manager.persist.mockReturnValue(
      new Promise((resolve) => {
        answer = resolve;
      }),
    );
    const db = await open('a', { storage: of('origin'), persist: true });
    const listener = vi.fn();
    db.onHealth(listener);
    await settled();
    answers.persisted = true;
    answer(true);
    await vi.waitFor(() => expect(told(listener)).toEqual(['persistent']));
  });

  it('that the user never answers holds up nothing', async () => {
    const { storage: manager } = platform();
    manager.persist.mockReturnValue(new Promise(() => {}));
    const db = await open('a', { storage: of('origin'), persist: true });
    let isSettled = false;
    db.persist().finally(() => {
      isSettled = true;
    });
    db.onHealth(() => {});
    await db.put('a', 1);
    expect((await db.health()).state).toBe('best-effort');
    await db.close();
    expect(isSettled).toBe(false);
  });

  it('is answered without a question where no browser clears the storage, and where it keeps none', async () => {
    const { storage: manager } = platform();
    for (const [lifetime, answer] of [
      ['session', false],
      ['permanent', true],
    ] as const) {
      const db = await open('a', { storage: of(lifetime), persist: true });
      expect(await db.persist()).toBe(answer);
    }
    expect(manager.persist).not.toHaveBeenCalled();
  });

  it('resolves to what is known where it cannot be asked, or fails', async () => {
    const persisted = async () => true;
    for (const [storage, answer] of [
      [undefined, undefined],
      [{}, undefined],
      [{ persist: () => Promise.reject(new TypeError('no')) }, undefined],
      [{ persisted }, true],
      [{ persisted, persist: () => Promise.reject(new TypeError('no')) }, true],
    ] as const) {
      vi.stubGlobal('navigator', { storage });
      expect(await persist()).toBe(answer);
      expect(await (await open('a', { storage: of('origin') })).persist()).toBe(answer);
    }
  });
});
