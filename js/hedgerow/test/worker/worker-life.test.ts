/** The beginning and end of connections: pages and workers that go, and their leftovers. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { localLocks } from '../../src/base/local-locks.js';
import { HedgerowError, memory, open, rowType, type Store, table } from '../../src/index.js';
import { live } from '../../src/live/index.js';
import { connect, type RemoteStore } from '../../src/worker/index.js';
import { HELLO, PONG, PROTOCOL, REFUSED } from '../../src/worker/protocol.js';
import { serve } from '../../src/worker/serve.js';
import { closeAll, opened, relay, wire } from '../support/doubles/worker-wire.js';
import { kindOf, ofKind } from '../support/error-kind.js';
import { until, world } from '../support/worlds/worker-world.js';

afterEach(async () => {
  await closeAll();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const issues = table({ schema: rowType<{ id: string; title: string }>(), key: 'id' });
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'right',
    (cause: HedgerowError) => kindOf(cause),
  );
const forEver = () => new Promise<never>(() => {});

describe('a connection', () => {
  it('is refused with a typed error by a worker of another release', async () => {
    const { page, host } = wire();
    host.addEventListener('message', ({ data }) => {
      const [[tag]] = data;
      if (tag === HELLO)
        host.postMessage([
          [
            REFUSED,
            PROTOCOL + 1,
            { kind: 'unsupported', name: 'HedgerowError', message: 'another' },
          ],
        ]);
    });
    host.start();
    expect(await codeOf(connect(page))).toBe('unsupported');
  });

  it('of another release is refused by a worker', async () => {
    const { page, host } = wire();
    serve({ open: () => open('x', { storage: memory() }), port: host });
    const answer = new Promise<unknown[][]>((resolve) => {
      page.addEventListener('message', ({ data }) => resolve(data), { once: true });
    });
    page.start();
    page.postMessage([[HELLO, PROTOCOL + 1, undefined]]);
    const [[tag, , told] = []] = await answer;
    expect(tag).toBe(REFUSED);
    expect(told).toMatchObject({ kind: 'unsupported' });
  });

  it('needs the tables that the page names', async () => {
    const { page } = world({ issues });
    await expect(page({ tables: ['issues', 'orders'] })).rejects.toMatchObject({
      ...ofKind('invalid-argument'),
      message: expect.stringContaining('orders'),
    });
    expect(await codeOf(page({ tables: ['issues'] }))).toBe('right');
  });

  it('rejects with the error of the opening, and the next page tries again', async () => {
    let tries = 0;
    const { page } = world(undefined, {
      serving: {
        open: async () => {
          tries += 1;
          if (tries === 1) throw new HedgerowError('blocked', 'not now');
          return open('again', { storage: memory() });
        },
      },
    });
    expect(await codeOf(page())).toBe('blocked');
    expect(await codeOf(page())).toBe('right');
  });

  it('without an answer is given up', async () => {
    const { page } = wire();
    await expect(connect(page, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'unavailable',
      detail: 'disconnected',
    });
  });

  it('works over the two ends of a channel, one page after the other', async () => {
    const { page, host } = wire();
    const served = serve({ open: () => open('alone', { storage: memory() }), port: host });
    opened.push(() => served.close());
    const db = await connect(page);
    await db.put('a', 1);
    expect(await db.get('a')).toBe(1);
  });

  it('refuses other values than workers and options', async () => {
    for (const target of [undefined, null, 5, {}, 'worker']) {
      expect(await codeOf(connect(target as never))).toBe('invalid-argument');
    }
    const { page } = wire();
    expect(await codeOf(connect(page, { tables: 'issues' as never }))).toBe('invalid-argument');
    expect(await codeOf(connect(page, { table: [] } as never))).toBe('invalid-argument');
    expect(() => serve({} as never)).toThrow(HedgerowError);
    expect(() => serve({ open: () => {}, prt: 1 } as never)).toThrow(HedgerowError);
    for (const ms of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '5']) {
      expect(await codeOf(connect(page, { timeoutMs: ms as never }))).toBe('invalid-argument');
      expect(() => serve({ open: () => {}, silentMs: ms } as never)).toThrow(/silentMs/);
    }
  });

  it('that is closed leaves the store to other pages', async () => {
    const { page, served } = world({ issues });
    const [one, other] = [await page(), await page()];
    await one.issues.put({ id: 'a', title: 'A' });
    const waiting = codeOf(one.transaction(forEver));
    await one.count();
    await one.close();
    await one.close();
    expect(await waiting).toBe('closed');
    expect(await codeOf(one.count())).toBe('closed');
    expect((await other.issues.get('a'))?.title).toBe('A');
    await until(() => served.connections === 1, 'the end of a connection');
  });
});

/** Counts the objects of the store in use: all counts are 0 once a page has gone. */
function heldBy(db: Store) {
  const held = { snapshots: 0, watches: 0, branches: 0 };
  const count = <T extends object>(made: T, name: keyof T, what: keyof typeof held) => {
    const release = made[name] as (...args: never[]) => unknown;
    held[what] += 1;
    Object.defineProperty(made, name, {
      value: (...args: never[]) => {
        held[what] -= 1;
        return release.apply(made, args);
      },
    });
    return made;
  };
  const { snapshot, watch } = db;
  const { open } = db.branches;
  Object.assign(db, {
    snapshot: () => count(snapshot.call(db), 'close', 'snapshots'),
    watch: (...args: Parameters<Store['watch']>) => {
      const stop = watch.apply(db, args);
      held.watches += 1;
      return () => {
        held.watches -= 1;
        stop();
      };
    },
  });
  Object.assign(db.branches, {
    open: async (name: string) => count(await open(name), 'close', 'branches'),
  });
  return held;
}

/** Makes a page that holds one object of each kind. */
async function holding(db: RemoteStore) {
  const snapshot = db.snapshot();
  await snapshot.count();
  const branch = await db.branches.open('draft');
  db.watch({ prefix: 'a' }, () => {});
  const rows = db.scan()[Symbol.asyncIterator]();
  await rows.next();
  const shown = live(db, { prefix: 'k' });
  shown.subscribe(() => {});
  await until(() => shown.get().status === 'ready');
  const calls = [codeOf(db.transaction(forEver)), codeOf(rows.next().then(() => forEver()))];
  // Forgotten objects are released.
  return { calls, held: [snapshot, branch, rows, shown] };
}

describe('a page that has gone', () => {
  const rows = Array.from({ length: 20_000 }, (_, n) => [`k${n}`, { n, text: 'x'.repeat(100) }]);

  it('by the end of its port releases all objects that it held', async () => {
    const { page, store, served } = world();
    const db = await store();
    const held = heldBy(db);
    const remote = await page();
    await remote.putMany(rows as never);
    const kept = await holding(remote);
    expect(held).toEqual({ snapshots: 1, watches: 2, branches: 1 });
    await remote.close();
    await until(() => served.connections === 0);
    await until(() => held.snapshots + held.watches + held.branches === 0, 'the release');
    expect(await kept.calls[0]).toBe('closed');
    // The branch is free again, and no transaction is under way.
    await db.branches.delete('draft');
    await db.close();
  });

  it('without a word is noticed by its lock', async () => {
    const locks = localLocks();
    const ends: (() => void)[] = [];
    // The locks of a page end with it.
    const mortal = {
      ...locks,
      request: (name: string, options: object, hold: (lock: unknown) => Promise<unknown>) =>
        locks.request(name, options, (lock) =>
          Promise.race([hold(lock), new Promise<void>((end) => ends.push(end))]),
        ),
    };
    vi.stubGlobal('navigator', { locks });
    const { page, store, served } = world();
    const db = await store();
    const held = heldBy(db);
    const other = await page();
    vi.stubGlobal('navigator', { locks: mortal });
    const remote = await page();
    vi.stubGlobal('navigator', { locks });
    await remote.putMany(rows as never);
    const kept = await holding(remote);
    expect(served.connections).toBe(2);
    for (const end of ends) end();
    await until(() => served.connections === 1, 'the end of a connection');
    await until(() => held.snapshots + held.watches + held.branches === 0, 'the release');
    expect(await other.count()).toBe(20_000);
    expect(kept.held).toHaveLength(4);
  });

  it('to sleep for ever is given up, and hears of it once it is awake', async () => {
    const { page, host, freeze, thaw } = relay();
    const db = await open('frozen', { storage: memory() });
    const held = heldBy(db);
    // The interval in which the worker asks passes when the test says so, and not while the page works.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const served = serve({ open: async () => db, port: host, silentMs: 100 });
    opened.push(() => served.close());
    const remote = await connect(page);
    await remote.putMany(rows as never);
    const { calls, held: kept } = await holding(remote);
    let answers = 0;
    host.addEventListener('message', ({ data }) => {
      answers += (data as [number][]).filter(([tag]) => tag === PONG).length;
    });
    // A page that is awake answers, however long it gets no calls.
    for (let asked = 1; asked <= 3; asked++) {
      vi.advanceTimersByTime(100);
      await until(() => answers === asked, 'an answer');
    }
    expect(served.connections).toBe(1);
    freeze();
    vi.advanceTimersByTime(200);
    await until(() => served.connections === 0, 'the end of a connection');
    await until(() => held.snapshots + held.watches + held.branches === 0, 'the release');
    thaw();
    expect(await calls[0]).toBe('unavailable/disconnected');
    expect(kept).toHaveLength(4);
    expect(await codeOf(remote.count())).toBe('unavailable/disconnected');
  });
});

describe('a worker that has gone', () => {
  it('by its own wish notifies its pages, and closes the store', async () => {
    const { page, served, store } = world();
    const remote = await page();
    const waiting = codeOf(remote.transaction(forEver));
    const shown = live(remote);
    shown.subscribe(() => {});
    await until(() => shown.get().status === 'ready');
    await served.close();
    expect(await waiting).toBe('unavailable/disconnected');
    expect(await codeOf(remote.count())).toBe('unavailable/disconnected');
    await until(() => shown.get().status === 'error');
    expect(shown.get().error).toMatchObject({ code: 'unavailable', detail: 'disconnected' });
    expect(await codeOf((await store()).count())).toBe('closed');
  });

  it('without a word is noticed by its lock', async () => {
    const locks = localLocks();
    let end = () => {};
    const mortal = {
      ...locks,
      request: (name: string, options: object, hold: (lock: unknown) => Promise<unknown>) =>
        locks.request(name, options, (lock) =>
          Promise.race([hold(lock), new Promise<void>((over) => (end = over))]),
        ),
    };
    let requests = 0;
    vi.stubGlobal('navigator', {
      locks: {
        ...locks,
        // The page asks first, and the worker then.
        request: (...args: Parameters<typeof locks.request>) => {
          requests += 1;
          return (requests === 2 ? (mortal as typeof locks) : locks).request(...args);
        },
      },
    });
    const remote = await world().page();
    const waiting = codeOf(remote.transaction(forEver));
    await remote.count();
    end();
    expect(await waiting).toBe('unavailable/disconnected');
  });

  it('by the end of its port is noticed', async () => {
    const { page, host } = wire();
    serve({ open: () => open('gone', { storage: memory() }), port: host });
    const remote = await connect(page);
    const waiting = codeOf(remote.transaction(forEver));
    await remote.count();
    host.close();
    expect(await waiting).toBe('unavailable/disconnected');
  });

  it('and whose store was deleted opens it again for the next page', async () => {
    const storage = memory();
    const opening = vi.fn(() => open('deleted', { storage }));
    const { page } = world(undefined, { serving: { open: opening } });
    const one = await page();
    await one.put('a', 1);
    await storage.destroy('deleted');
    await until(async () => (await codeOf(one.count())) === 'closed');
    const other = await page();
    expect(await other.count()).toBe(0);
    expect(opening).toHaveBeenCalledTimes(2);
  });
});
