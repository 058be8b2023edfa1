/** Stores that take one write of an object a second, as R2 and Google's do; and probes, with their leftovers. */
import { expect, it } from 'vitest';
import { UnfinishedChanges } from '../../../src/engine/read/unfinished-changes.js';
import { HedgerowError, memory, open } from '../../../src/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import {
  type BucketOptions,
  createBucketConnection,
} from '../../../src/sync/link/open-bucket-connection.js';
import {
  memoryRemote,
  probeRemote,
  type Remote,
  type Swap,
} from '../../../src/sync/remote/index.js';
import { Clock, DAY, HOUR } from '../../support/doubles/collected-remote.js';
import { faultyRemote } from '../../support/doubles/faulty-remote.js';
import { failure } from '../../support/models/store-model.js';
import { headOf } from '../../support/remote-store.js';
import { type Device, device, many } from '../../support/worlds/sync-devices.js';

/** A device whose waits pass at once, by the clock; `waits` gets them. */
async function waiting(
  remote: Remote,
  options: BucketOptions,
  clock: Clock,
): Promise<Device & { readonly waits: number[] }> {
  const db = await open('app', { storage: memory() });
  const { shared } = headOf(db);
  const host = { shared, branchName: 'main', durability: 'relaxed' } as const;
  const rest = { changes: new UnfinishedChanges(), check: () => {}, settle: () => {} };
  const waits: number[] = [];
  const tools = {
    sleep: async (ms: number) => {
      waits.push(ms);
      clock.pass(ms);
    },
    chance: () => 0.5,
  };
  return {
    db,
    link: await createBucketConnection({ ...host, ...rest }, remote, options, tools),
    waits,
  };
}

/** Answers 503 where `inner` answers 429. */
const unavailable = (inner: Remote): Remote => ({
  ...inner,
  async swapHead(...call): Promise<Swap> {
    try {
      return await inner.swapHead(...call);
    } catch (thrown) {
      if ((thrown as HedgerowError).status !== 429) throw thrown;
      return { state: 'unknown', cause: refusalOf(503) };
    }
  },
});

const refusalOf = (status: number, retryAfterMs?: number) =>
  new HedgerowError('remote/status', `status ${status}`, { status, retryAfterMs });

const slowStore = (clock: Clock): Remote =>
  faultyRemote(memoryRemote({ now: clock.now }), {
    ...{ seed: 1, chances: {}, headEveryMs: 1000, now: clock.now },
  });

it.each([
  ['429', true],
  ['429', false],
  ['503', true],
  ['503', false],
])('one write a second for a head is enough, with status %s, probe: %s', async (status, probe) => {
  const clock = new Clock();
  const store = slowStore(clock);
  const remote = status === '429' ? store : unavailable(store);
  const one = await waiting(remote, { probe }, clock);
  for (let nth = 0; nth < 3; nth++) {
    await one.db.put('key', nth);
    expect(await one.link.push()).toMatchObject({ isPushed: true, races: 0 });
  }
  // The first head, and three that have rows.
  expect(one.waits.length).toBeGreaterThanOrEqual(3);
  const other = await waiting(remote, { probe }, clock);
  await other.link.pull();
  expect(await other.db.get('key')).toBe(2);
});

it('a collection waits for such a store, too', async () => {
  const clock = new Clock();
  const one = await waiting(slowStore(clock), { probe: false }, clock);
  for (let nth = 0; nth < 3; nth++) {
    await one.db.putMany(many(300, `of ${nth}`));
    await one.link.push();
  }
  clock.pass(DAY);
  expect((await one.link.collect()).waiting).toBeDefined();
});

it('probeRemote finds the faults of a slow store, too', async () => {
  const clock = new Clock();
  const store = slowStore(clock);
  const liar: Remote = {
    ...store,
    swapHead: async (branch, _token, bytes) => {
      clock.pass(1000);
      const head = await store.readHead(branch);
      return store.swapHead(branch, head?.token, bytes);
    },
  };
  await expect(probeRemote(liar)).rejects.toEqual(failure('remote/unsafe'));
});

/** The answers of swaps, and the number of requests for each. */
const answered = (inner: Remote, answer: () => Swap | Promise<Swap>) => {
  const seen = { swaps: 0 };
  const swapHead = async () => {
    seen.swaps += 1;
    return answer();
  };
  return { seen, remote: { ...inner, swapHead } as Remote };
};
const unknown = (cause: HedgerowError) => (): Swap => ({ state: 'unknown', cause });
const throws = (cause: HedgerowError) => (): Promise<Swap> => Promise.reject(cause);

it.each([
  ['status 500', unknown(refusalOf(500)), 3, 500],
  ['status 503', unknown(refusalOf(503)), 3, 503],
  ['status 429', throws(refusalOf(429)), 3, 429],
  ['a wait of a minute', throws(refusalOf(429, 60_000)), 1, 429],
])('a push ends with the cause: %s', async (_, answer, swaps, status) => {
  const clock = new Clock();
  const inner = memoryRemote();
  const first = await device(inner);
  await first.db.put('a', 1);
  await first.link.push();
  const { seen, remote } = answered(inner, answer);
  const { db, link, waits } = await waiting(remote, { probe: false }, clock);
  await link.pull();
  await db.put('b', 1);
  await expect(link.push()).rejects.toMatchObject({ code: 'remote', detail: 'status', status });
  expect(seen.swaps).toBe(swaps);
  expect(waits).toHaveLength(swaps - 1);
  // A later push repeats a push that is refused for now.
  const healed = await waiting(inner, { probe: false }, clock);
  await healed.db.put('b', 1);
  expect(await healed.link.push()).toMatchObject({ isPushed: true });
});

it('a swap waits as long as the store asks for, and recognises itself after a write', async () => {
  const clock = new Clock();
  const inner = memoryRemote();
  let refusals = 0;
  const remote: Remote = {
    ...inner,
    async swapHead(...call) {
      const swap = await inner.swapHead(...call);
      if (refusals++ > 0) return swap;
      return { state: 'unknown', cause: refusalOf(503, 5000) };
    },
  };
  const { db, link, waits } = await waiting(remote, { probe: false }, clock);
  await db.put('a', 1);
  expect(await link.push()).toMatchObject({ isPushed: true, races: 0, seq: 2 });
  expect(waits).toHaveLength(1);
  expect(waits[0]).toBeGreaterThanOrEqual(5000);
});

/** Swaps and removals of a remote, by the branch. */
function counted(inner: Remote) {
  const swaps: string[] = [];
  const swapHead: Remote['swapHead'] = (branch, ...rest) => {
    swaps.push(branch);
    return inner.swapHead(branch, ...rest);
  };
  return { swaps, remote: { ...inner, swapHead } };
}

it('one device probes a remote for all', async () => {
  const inner = memoryRemote();
  const [one, other] = [counted(inner), counted(inner)];
  const [a, b] = [
    await device(one.remote, { probe: true }),
    await device(other.remote, { probe: true }),
  ];
  await a.db.put('a', 1);
  await a.link.push();
  expect(one.swaps.filter((branch) => branch.startsWith('~probe-')).length).toBeGreaterThan(10);
  await b.link.pull();
  await b.db.put('b', 1);
  const before = b.link.traffic.requests;
  await b.link.push();
  expect(other.swaps).toEqual(['main']);
  expect(b.link.traffic.requests - before).toBe(2);
  const listed = (await inner.list('h/')).map(({ name }) => name).sort();
  expect(listed).toEqual(['h/%7eprobe', 'h/main']);
});

it('a verdict of another version, or a failed write of a verdict, leads to a probe', async () => {
  const inner = memoryRemote();
  await inner.swapHead('~probe', undefined, new TextEncoder().encode('hedgerow probe 0'));
  const one = counted(inner);
  const a = await device(one.remote, { probe: true });
  await a.db.put('a', 1);
  await a.link.push();
  expect(one.swaps.length).toBeGreaterThan(10);
  expect((await inner.readHead('~probe'))?.bytes).not.toEqual(
    new TextEncoder().encode('hedgerow probe 0'),
  );
  const refuses: Remote = {
    ...memoryRemote(),
    async readHead(branch) {
      if (branch === '~probe') return undefined;
      return inner.readHead(branch);
    },
    swapHead: (branch, ...rest) =>
      branch === '~probe'
        ? Promise.reject(new HedgerowError('unauthorized', 'not this one'))
        : inner.swapHead(branch, ...rest),
    readHeadSince: inner.readHeadSince,
    get: inner.get,
    put: inner.put,
  };
  const b = await device(refuses, { probe: true });
  await b.db.put('b', 1);
  expect(await b.link.push()).toMatchObject({ isPushed: true });
});

it.each([
  ['is not allowed', () => new HedgerowError('unauthorized', 'status 403', { status: 403 })],
  ['fails', () => new HedgerowError('offline', 'it is gone')],
  ['throws what is no error of ours', () => new Error('status 403')],
])('where deleting %s, devices push, and a server collects', async (_, fault) => {
  const clock = new Clock();
  const inner = memoryRemote({ now: clock.now });
  const noDelete: Remote = { ...inner, remove: () => Promise.reject(fault()) };
  const one = await device(noDelete, { probe: true });
  for (let nth = 0; nth < 4; nth++) {
    await one.db.putMany(many(3000, `of ${nth}`));
    await one.link.push();
    clock.pass(HOUR);
  }
  const probes = async () =>
    (await inner.list('h/')).filter(({ name }) => name.startsWith('h/%7eprobe-'));
  expect(await probes()).toHaveLength(1);
  const server = await device(inner);
  // A probe in progress stays.
  expect(await server.link.collect()).toBeDefined();
  expect(await probes()).toHaveLength(1);
  for (let day = 0; day < 2; day++) {
    clock.pass(DAY);
    await one.db.put('day', day);
    await one.link.push();
    await server.link.collect();
  }
  expect(await probes()).toEqual([]);
});

it('a collection names the head that it cannot read', async () => {
  const remote = memoryRemote();
  const one = await device(remote);
  await one.db.putMany(many(300, 'long'));
  await one.link.push();
  await remote.swapHead('other room', undefined, new TextEncoder().encode('no head'));
  await expect(one.link.collect()).rejects.toMatchObject({
    code: 'remote',
    detail: 'data',
    object: 'head',
    message: expect.stringContaining('h/other%20room: head, byte 0: not a head'),
  });
});

it('no branch has a name that begins with ~', async () => {
  const { db } = await device(memoryRemote());
  for (const remoteBranch of ['~collection', '~probe', '~']) {
    const wanted = db.connect(bucket(memoryRemote(), { name: 'x', remoteBranch }));
    await expect(wanted).rejects.toEqual(failure('invalid-argument'));
  }
});
