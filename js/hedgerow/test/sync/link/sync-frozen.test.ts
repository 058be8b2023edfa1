/** A tab that freezes while it syncs does not keep others from syncing; see `tabs-world.ts`. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { expect, it, vi } from 'vitest';
import { HedgerowError, type Store } from '../../../src/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import type { BucketConnection } from '../../../src/sync/link/bucket-connection.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { Browser, breathe, pass, settled, type Tab } from '../../support/worlds/tabs-world.js';

// Other threads take real time, which the tabs do not have: here the work is done at once.
vi.mock('../../../src/sync/remote/format/deflate.js', () => ({
  deflate: async (bytes: Uint8Array) => new Uint8Array(deflateRawSync(bytes)),
  async *inflate(bytes: Uint8Array, maxOutputLength: number) {
    yield new Uint8Array(inflateRawSync(bytes, { maxOutputLength }));
  },
}));

/** The limit of `docs/sync.md`. */
const LIMIT_MS = 20_000;

/** The remote in the view of a tab: a frozen tab hears no answer. */
function seenBy(tab: Tab, inner: Remote): Remote {
  return {
    readHead: (...call) => tab.passes(() => inner.readHead(...call)),
    readHeadSince: (...call) => tab.passes(() => inner.readHeadSince(...call)),
    swapHead: (...call) => tab.passes(() => inner.swapHead(...call)),
    get: (...call) => tab.passes(() => inner.get(...call)),
    put: (...call) => tab.passes(() => inner.put(...call)),
    remove: (...call) => tab.passes(() => inner.remove(...call)),
    list: (...call) => tab.passes(() => inner.list(...call)),
  };
}

interface Synced {
  readonly tab: Tab;
  readonly db: Store;
  readonly link: BucketConnection;
}

async function synced(browser: Browser, remote: Remote): Promise<Synced> {
  const tab = browser.tab();
  const db = await tab.open();
  const link = await browser.inTab(tab, () =>
    db.connect(bucket(seenBy(tab, remote), { probe: false })),
  );
  return { tab, db, link };
}

async function until(is: () => boolean, ms: number): Promise<void> {
  for (let gone = 0; gone < ms && !is(); gone += 200) await pass(200);
  expect(is()).toBe(true);
}

const start = async ({ link }: Synced): Promise<BucketConnection> => {
  link.start({ pauseMs: 0 });
  await breathe();
  return link;
};
/** Returns which of two loops are at work, by their states. */
const atWork = (...loops: BucketConnection[]) =>
  loops.map(({ state }) => state.status === 'synced' && state.isLeader);
const seqOf = async (remote: Remote) => (await remote.readHead('main'))?.token;

it('another tab takes over the loop of a frozen tab, which begins again when the other ends', async () => {
  const browser = new Browser();
  const remote = memoryRemote();
  const [a, b] = [await synced(browser, remote), await synced(browser, remote)];
  const first = await start(a);
  await settled(a.db.put('a', 1));
  await until(() => first.state.status === 'synced', 5000);
  const second = await start(b);
  // Long enough for several polls: a tab that answers keeps its turn.
  await pass(60_000, 500);
  expect(atWork(first, second)).toEqual([true, false]);
  expect(second.state).toEqual({ ...first.state, isLeader: false });
  a.tab.freeze();
  await settled(b.db.put('b', 1));
  const before = await seqOf(remote);
  await until(() => atWork(second)[0] === true, LIMIT_MS);
  expect(await seqOf(remote)).not.toBe(before);
  a.tab.thaw();
  await until(() => !first.state.isLeader, 5000);
  await settled(a.db.put('a', 2));
  await pass(2000);
  expect(atWork(first, second)).toEqual([false, true]);
  const stopping = second.stop();
  await settled(stopping, 5000);
  await until(() => atWork(first)[0] === true, LIMIT_MS);
  await settled(first.stop(), 5000);
});

it('waiting tabs show the state of the tab at work, also tabs that come later', async () => {
  const browser = new Browser();
  const inner = memoryRemote();
  let failure: HedgerowError | undefined;
  const remote: Remote = {
    ...inner,
    swapHead: async (...call) => {
      if (failure !== undefined) throw failure;
      return inner.swapHead(...call);
    },
  };
  const [a, b, c] = [
    await synced(browser, remote),
    await synced(browser, remote),
    await synced(browser, remote),
  ];
  const first = await start(a);
  await until(() => first.state.status === 'synced', 5000);
  const second = await start(b);
  failure = new HedgerowError('offline', 'no network');
  const beginMs = Date.now();
  await settled(b.db.put('b', 1));
  await until(() => second.state.status === 'offline', 5000);
  const { retryAt = 0 } = first.state;
  // Tabs have the real time of day, which may be later by now.
  expect(retryAt).toBeGreaterThanOrEqual(beginMs + 500);
  expect(second.state).toMatchObject({ isLeader: false, isPending: true, retryAt });
  expect(second.state.error).toBeInstanceOf(HedgerowError);
  expect(second.state.error).toMatchObject({ code: 'offline', message: 'no network' });
  // A second failure of the same kind is no other error.
  const { error } = second.state;
  await until(() => first.state.retryAt !== retryAt, 5000);
  await breathe();
  expect(second.state.error).toBe(error);
  const third = await start(c);
  expect(third.state).toMatchObject({ status: 'offline', isLeader: false });
  failure = new HedgerowError('unauthorized', 'refused', { status: 403 });
  await until(() => third.state.status === 'failing', 10_000);
  expect(third.state.error).toMatchObject({ code: 'unauthorized', status: 403 });
  failure = undefined;
  await until(() => third.state.status === 'synced', 20_000);
  expect(third.state).toMatchObject({ error: undefined, retryAt: undefined, isPending: false });
  a.tab.kill();
  await until(() => atWork(second, third).includes(true), 1000);
});

it('a call of a frozen tab delays calls of others for the limit at most, and succeeds later', async () => {
  const browser = new Browser();
  const remote = memoryRemote();
  const [a, b] = [await synced(browser, remote), await synced(browser, remote)];
  await settled(a.db.put('a', 1));
  const pushing = a.link.push();
  await breathe(2);
  a.tab.freeze();
  await settled(b.db.put('b', 1));
  for (let round = 0; round < 3; round++) {
    await settled(b.db.put('round', round));
    // The first one takes over the lock; the next ones need not wait.
    const result = await settled(b.link.push(), round === 0 ? LIMIT_MS : 1000);
    expect(result).toMatchObject({ isPushed: true });
  }
  a.tab.thaw();
  await settled(pushing, 5000);
  await settled(a.db.put('a', 2));
  await settled(a.link.push(), 5000);
  const other = await synced(new Browser(), remote);
  await settled(other.link.pull(), 5000);
  expect(await settled(other.db.scan().toArray())).toEqual([
    ['a', 2],
    ['b', 1],
    ['round', 2],
  ]);
});

it('tabs wait for a long call of a tab that is awake', async () => {
  const browser = new Browser();
  const inner = memoryRemote();
  let answer = () => {};
  const slow: Remote = {
    ...inner,
    readHead: async (...call) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return inner.readHead(...call);
    },
  };
  const [a, b] = [await synced(browser, slow), await synced(browser, inner)];
  const pulling = a.link.pull();
  await breathe(4);
  let isOver = false;
  const other = b.link.pull().finally(() => {
    isOver = true;
  });
  await pass(120_000, 1000);
  expect(isOver).toBe(false);
  answer();
  await settled(Promise.all([pulling, other]), 5000);
});

it('a waiting tab pokes the tab at work', async () => {
  const browser = new Browser();
  const remote = memoryRemote();
  const [a, b] = [await synced(browser, remote), await synced(browser, remote)];
  const away = await synced(new Browser(), remote);
  const first = await start(a);
  await until(() => first.state.status === 'synced', 5000);
  const second = await start(b);
  await pass(30_000, 500);
  await settled(away.db.put('news', 1));
  await settled(away.link.push(), 5000);
  // By itself it looks once a minute.
  await pass(4000, 500);
  expect(await settled(b.db.get('news'))).toBe(undefined);
  second.poke();
  await pass(2000, 200);
  expect(await settled(b.db.get('news'))).toBe(1);
  expect(atWork(first, second)).toEqual([true, false]);
});

it('another tab replaces a killed tab at once', async () => {
  const browser = new Browser();
  const remote = memoryRemote();
  const [a, b] = [await synced(browser, remote), await synced(browser, remote)];
  const first = await start(a);
  const second = await start(b);
  await until(() => first.state.status === 'synced', 5000);
  expect(atWork(first, second)).toEqual([true, false]);
  a.tab.kill();
  await until(() => atWork(second)[0] === true, 1000);
});
