/** The loop that keeps a store in sync, and its reports. */
import { expect, it } from 'vitest';
import { pause } from '../../../src/base/pauses.js';
import { HedgerowError } from '../../../src/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import type { BucketConnection } from '../../../src/sync/link/bucket-connection.js';
import type { ConnectionState } from '../../../src/sync/link/connection-state.js';
import type { SyncProgress } from '../../../src/sync/link/link-context.js';
import { type LoopHost, SyncLoop } from '../../../src/sync/link/sync-loop.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { ofKind } from '../../support/error-kind.js';
import { device, many, offline } from '../../support/worlds/sync-devices.js';

it('a loop pushes commits, pulls after a poke, and ends with its store', async () => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote), await device(remote)];
  const states: string[] = [];
  let poke = () => {};
  const subscribe = (call: () => void) => {
    poke = call;
    return () => {};
  };
  const loop = a.link;
  loop.subscribe(() => void states.push(loop.state.status));
  loop.start({ pauseMs: 0, subscribe });
  await a.db.put('a', 1);
  await expect.poll(async () => (await b.link.pull()).seq).toBe(2);
  await b.db.put('b', 1);
  await b.link.push();
  poke();
  await expect.poll(() => a.db.get('b')).toBe(1);
  await expect.poll(() => loop.state.status).toBe('synced');
  await a.db.close();
  await loop.stop();
  expect(states.at(-1)).toBe('stopped');
  expect(states).toContain('syncing');
});

const DONE = { hasNews: false, isPending: false };

/** A host whose waits end only by an abort, or when the test ends them. */
function hostOf(work: LoopHost['work'], lost = new AbortController().signal) {
  const waits: { readonly ms: number; readonly end: () => void }[] = [];
  let commit = () => {};
  const host: LoopHost = {
    isPending: async () => false,
    work,
    onCommit(listener) {
      commit = listener;
      return () => {};
    },
    hold: (run) => run(lost),
    say() {},
    pass() {},
    show() {},
    sleep: (ms, signal) =>
      new Promise((end) => {
        waits.push({ ms, end });
        signal?.addEventListener('abort', () => end());
      }),
    chance: () => 0.5,
  };
  return { host, waits, commit: () => commit() };
}

it('a loop waits as long as a server asks for, despite commits and pokes', async () => {
  let rounds = 0;
  const { host, waits, commit } = hostOf(async () => {
    rounds += 1;
    if (rounds > 1) return DONE;
    throw new HedgerowError('remote/status', 'status 429', { status: 429, retryAfterMs: 120_000 });
  });
  const loop = new SyncLoop(host, { pauseMs: 0 });
  await expect.poll(() => loop.state).toMatchObject({ status: 'failing' });
  expect((loop.state.retryAt as number) - Date.now()).toBeGreaterThan(100_000);
  commit();
  loop.poke();
  for (let turns = 0; turns < 5; turns++) await pause(0);
  expect([rounds, waits.map(({ ms }) => ms)]).toEqual([1, [120_000]]);
  waits[0]?.end();
  await expect.poll(() => rounds).toBe(2);
  await loop.stop();
});

it.each(['stop', 'another tab that takes over'])('%s ends such a wait', async (how) => {
  const lost = new AbortController();
  const { host, waits } = hostOf(async () => {
    throw new HedgerowError('remote/status', 'status 503', { status: 503, retryAfterMs: 120_000 });
  }, lost.signal);
  let runs = 0;
  const { hold } = host;
  const once: LoopHost['hold'] = async (...call) => {
    runs += 1;
    if (runs === 1) return hold(...call);
    await new Promise((resolve) => call[1].addEventListener('abort', resolve));
  };
  const loop = new SyncLoop({ ...host, hold: once }, { pauseMs: 0 });
  await expect.poll(() => waits.length).toBe(1);
  if (how === 'stop') return loop.stop();
  lost.abort();
  await expect.poll(() => runs).toBe(2);
  await loop.stop();
});

it('a loop goes on at once with commits that came while it was at work', async () => {
  let rounds = 0;
  const { host, commit } = hostOf(async () => {
    rounds += 1;
    if (rounds === 1) commit();
    return DONE;
  });
  const loop = new SyncLoop(host, { pauseMs: 0 });
  await expect.poll(() => rounds).toBe(2);
  await loop.stop();
});

it('a loop without a network is offline, and goes on when the network is back', async () => {
  const inner = memoryRemote();
  let isDown = true;
  const unlessDown = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isDown) throw offline();
    return call();
  };
  const remote: Remote = {
    ...inner,
    readHead: (...call) => unlessDown(() => inner.readHead(...call)),
    swapHead: (...call) => unlessDown(() => inner.swapHead(...call)),
    put: (...call) => unlessDown(() => inner.put(...call)),
  };
  const a = await device(remote);
  await a.db.put('a', 1);
  const loop = a.link;
  loop.start({ pauseMs: 0 });
  await expect.poll(() => loop.state).toMatchObject({ isPending: true });
  isDown = false;
  loop.poke();
  await expect.poll(() => loop.state).toMatchObject({ isPending: false });
  await loop.stop();
});

/** A device whose rows differ from the rows of the remote in both directions. */
async function apart(remote: Remote) {
  const [a, b] = [await device(remote), await device(remote)];
  await a.db.put('both', { title: 'x', state: 'open' });
  await a.link.push();
  await b.link.pull();
  await b.db.putMany([
    ['both', { title: 'y', state: 'open' }],
    ['one', 1],
    ['two', 2],
  ]);
  await b.link.push();
  await a.db.put('both', { title: 'z', state: 'open' });
  return { a, b };
}

it('a loop reports rows that the pull of its push has merged in', async () => {
  const { a } = await apart(memoryRemote());
  const told: unknown[] = [];
  const loop = a.link;
  loop.onPull((pulled) => void told.push(pulled));
  loop.start({ pauseMs: 0 });
  await expect.poll(() => loop.state.status).toBe('synced');
  // It was pending: the loop has not pulled by itself. Both titles had changed, and the remote's won.
  expect(told).toEqual([{ seq: 3, rows: 3, conflicts: 1 }]);
  await loop.stop();
});

it('a loop reports conflicts that have changed no row here', async () => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote), await device(remote, { policy: 'local' })];
  await a.db.put('both', 1);
  await a.link.push();
  await b.link.pull();
  await a.db.put('both', 2);
  await a.link.push();
  await b.db.put('both', 3);
  const told: unknown[] = [];
  const loop = b.link;
  loop.onPull((pulled) => void told.push(pulled));
  loop.start({ pauseMs: 0 });
  await expect.poll(() => loop.state.status).toBe('synced');
  expect(told).toEqual([{ seq: 3, rows: 0, conflicts: 1 }]);
  await loop.stop();
});

it('a loop reports rows that came in before its push failed', async () => {
  const inner = memoryRemote();
  let left = Number.POSITIVE_INFINITY;
  const remote: Remote = {
    ...inner,
    async swapHead(...call) {
      if (left-- <= 0) throw new HedgerowError('unauthorized', 'read only');
      return inner.swapHead(...call);
    },
  };
  const { a } = await apart(remote);
  await a.db.put('own', 1);
  // The lost swap brings the rows; the next one fails.
  left = 1;
  const told: unknown[] = [];
  const loop = a.link;
  loop.onPull((pulled) => void told.push(pulled));
  loop.start({ pauseMs: 0 });
  await expect.poll(() => loop.state.status).toBe('failing');
  expect(told).toEqual([{ seq: 3, rows: 3, conflicts: 1 }]);
  expect(await a.db.get('two')).toBe(2);
  await loop.stop();
});

it('a loop that waits for its turn reports it once', async () => {
  const remote = memoryRemote();
  const { db, link } = await device(remote);
  const other = await db.connect(bucket(remote, { probe: false }));
  const first = link;
  first.start({ pauseMs: 0 });
  await expect.poll(() => first.state.status).toBe('synced');
  const told: ConnectionState[] = [];
  other.subscribe(() => void told.push(other.state));
  other.start({ pauseMs: 0 });
  expect(told).toMatchObject([{ status: 'waiting', isPending: false, isLeader: false }]);
  await pause(50);
  expect(told).toEqual([other.state]);
  expect(other.state).toBe(told[0]);
  expect(Object.isFrozen(other.state)).toBe(true);
  await first.stop();
  await other.stop();
});

it('the states of a loop begin with waiting, also when its turn comes at once', async () => {
  const { link } = await device(memoryRemote());
  const told: string[] = [];
  const loop = link;
  loop.subscribe(() => {
    const { status } = loop.state;
    if (told.at(-1) !== status) told.push(status);
  });
  loop.start({ pauseMs: 0 });
  // It is at work from its turn on, also without a push.
  await expect.poll(() => told).toEqual(['waiting', 'syncing', 'synced']);
  await loop.stop();
  expect(told).toEqual(['waiting', 'syncing', 'synced', 'stopped']);
});

/** Starts a connection; resolves to it when its first round has ended, however long that takes. */
const synced = (link: BucketConnection) =>
  new Promise<BucketConnection>((resolve) => {
    const stop = link.subscribe(() => {
      if (link.state.status !== 'synced') return;
      stop();
      resolve(link);
    });
    link.start({ pauseMs: 0 });
  });

it('a loop reports its progress with packs while it pulls and pushes', async () => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote), await device(remote)];
  await a.db.putMany(many(30_000, 'a note'));
  const told: SyncProgress[] = [];
  for (const { link } of [a, b]) link.onProgress((progress) => void told.push(progress));
  const sending = await synced(a.link);
  expect(sending.state.isPending).toBe(false);
  await sending.stop();
  const packs = told.length;
  expect(packs).toBeGreaterThan(0);
  expect(told.every(({ phase }) => phase === 'packs-out')).toBe(true);
  told.length = 0;
  const bringing = await synced(b.link);
  expect(await b.db.count()).toBe(30_000);
  await bringing.stop();
  expect(told).toHaveLength(packs);
  expect(told.at(-1)).toMatchObject({ phase: 'packs-in', packs, allPacks: packs });
  expect(told.at(-1)?.bytes).toBeGreaterThan(100_000);
});

it.each(['unauthorized', 'remote/status', 'remote/unsafe'] as const)(
  'a loop with pushes refused by %s still pulls the pushes of others',
  async (code) => {
    const inner = memoryRemote();
    const refused = () => Promise.reject(new HedgerowError(code, 'it is not written'));
    const readOnly: Remote = { ...inner, put: refused, swapHead: refused };
    const [a, b] = [await device(inner), await device(readOnly)];
    await a.db.put('first', 1);
    await a.link.push();
    await b.link.pull();
    // So long that it is a separate object, whose put comes before the swap.
    const long = many(200, 'long');
    await b.db.putMany(long);
    const loop = b.link;
    loop.start({ pauseMs: 0 });
    await expect.poll(() => loop.state).toMatchObject({ status: 'failing', isPending: true });
    await a.db.put('second', 2);
    await a.link.push();
    loop.poke();
    await expect.poll(() => b.db.get('second')).toBe(2);
    expect(await b.db.count()).toBe(2 + long.length);
    await loop.stop();
  },
);

it('a second start replaces the options of a running loop, and begins a round', async () => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote), await device(remote)];
  const heard: string[] = [];
  const named = (name: string) => () => {
    heard.push(`+${name}`);
    return () => void heard.push(`-${name}`);
  };
  a.link.start({ pauseMs: 0, subscribe: named('first') });
  await expect.poll(() => a.link.state.status).toBe('synced');
  await b.db.put('b', 1);
  await b.link.push();
  a.link.start({ pauseMs: 0, subscribe: named('second') });
  await expect.poll(() => a.db.get('b')).toBe(1);
  expect(heard).toEqual(['+first', '-first', '+second']);
  await a.link.stop();
  expect(heard).toEqual(['+first', '-first', '+second', '-second']);
});

it('a connection that is being stopped starts again', async () => {
  const { db, link } = await device(memoryRemote());
  link.start({ pauseMs: 0 });
  await expect.poll(() => link.state.status).toBe('synced');
  const stopping = link.stop();
  link.start({ pauseMs: 0 });
  await stopping;
  await db.put('a', 1);
  await expect.poll(() => link.isPending()).toBe(false);
  expect(link.state).toMatchObject({ status: 'synced', isLeader: true, isFilled: true });
  await link.close();
  expect(link.state).toMatchObject({ status: 'stopped', isLeader: false });
  expect(() => link.start()).toThrow(expect.objectContaining({ code: 'closed' }));
  await expect(async () => link.pull()).rejects.toMatchObject({ code: 'closed' });
});

it('a connection counts the rows that the other side lacks', async () => {
  const { db, link } = await device(memoryRemote());
  expect(await link.pendingCount()).toBe(0);
  await db.putMany(many(1000, 'a note'));
  expect(await link.pendingCount()).toBe(1000);
  await link.push();
  await db.delete('k000001');
  await db.put('k000002', 2);
  expect([await link.pendingCount(), await link.isPending()]).toEqual([2, true]);
});

it.each([{ everyMs: -1 }, { pauseMs: '1' }, { subscribe: 1 }, { pokes: () => {} }, 1])(
  'start refuses %j',
  async (options) => {
    const { link } = await device(memoryRemote());
    expect(() => link.start(options as never)).toThrow(
      expect.objectContaining(ofKind('invalid-argument')),
    );
    expect(() => link.onPull(1 as never)).toThrow(
      expect.objectContaining(ofKind('invalid-argument')),
    );
  },
);
