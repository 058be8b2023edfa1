/** Sync: stores that meet at a remote. Requests are counted, not timed. */
import { expect, it } from 'vitest';
import { until } from '../src/base/signal.js';
import { pause } from '../src/base/timeout.js';
import { memory, open } from '../src/index.js';
import { memoryRemote, type Remote, type Swap } from '../src/remote/index.js';
import type { SyncProgress } from '../src/sync/context.js';
import { failure } from './model.js';
import { cost, device, many, offline, rowsOf } from './sync-devices.js';

it('what one device pushes another one pulls, in a request each', async () => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote), await device(remote)];
  expect(await a.link.pull()).toEqual({ seq: 0, applied: 0, conflicts: 0 });
  await a.db.putMany(many(500, 'first'));
  expect(await a.link.push()).toMatchObject({ seq: 1, isPushed: true, edits: 500, races: 0 });
  expect(await b.link.pull()).toEqual({ seq: 1, applied: 500, conflicts: 0 });
  await a.db.putMany(
    many(500, 'first')
      .slice(0, 10)
      .map(([key]) => [key, { changed: true }]),
  );
  await a.db.delete('k000499');
  const pushed = await cost(a.link, () => a.link.push());
  expect([pushed.requests, pushed.sent < 6000]).toEqual([1, true]);
  const seen: unknown[] = [];
  const stop = b.db.watch({}, (changes) => void seen.push(changes.length));
  const pulled = await cost(b.link, () => b.link.pull());
  expect([pulled.requests, pulled.received < 6000]).toEqual([1, true]);
  await expect.poll(() => seen).toEqual([11]);
  stop();
  expect(await rowsOf(b.db)).toEqual(await rowsOf(a.db));
  expect(await cost(b.link, () => b.link.pull())).toEqual({ requests: 1, sent: 0, received: 0 });
  expect(await a.link.push()).toMatchObject({ isPushed: false });
});

it('what two devices have changed is merged by fields, and what was lost is logged', async () => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote), await device(remote)];
  await a.db.putMany([
    ['one', { title: 'x', state: 'open' }],
    ['two', { n: 1 }],
    ['gone', 1],
  ]);
  await a.link.push();
  await b.link.pull();
  await a.db.putMany([
    ['one', { title: 'y', state: 'open' }],
    ['two', { n: 2 }],
    ['gone', 2],
  ]);
  await b.db.put('one', { title: 'x', state: 'closed' });
  await b.db.put('two', { n: 3 });
  await b.db.delete('gone');
  await a.link.push();
  expect(await b.link.push()).toMatchObject({ seq: 3, races: 1, conflicts: 2 });
  await a.link.pull();
  const rows = { one: { title: 'y', state: 'closed' }, two: { n: 2 }, gone: 2 };
  expect([await rowsOf(a.db), await rowsOf(b.db)]).toEqual([rows, rows]);
  const logged = [];
  for await (const one of b.link.conflicts()) logged.push(one);
  expect(logged).toMatchObject([
    { key: 'gone', base: 1, ours: undefined, theirs: 2, result: 2, seq: 2 },
    { key: 'two', ours: { n: 3 }, theirs: { n: 2 }, result: { n: 2 }, fields: ['n'] },
  ]);
  await b.link.forgetConflicts(logged.map(({ id }) => id));
  for await (const one of b.link.conflicts()) throw new Error(one.key);
});

it.each([
  ['remote', 1],
  ['local', 2],
  [({ ours, theirs }: { ours: unknown; theirs: unknown }) => Number(ours) + Number(theirs), 3],
] as const)('a conflict is decided by the policy %s', async (policy, expected) => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote), await device(remote, { policy })];
  await a.db.put('key', 1);
  await b.db.put('key', 2);
  await a.link.push();
  await b.link.push();
  await a.link.pull();
  expect([await a.db.get('key'), await b.db.get('key')]).toEqual([expected, expected]);
});

it('many rows travel as packs, and a store with indexes and sum trees takes them', async () => {
  const remote = memoryRemote();
  const a = await device(remote);
  await a.db.putMany(many(60_000, 'a note'));
  const pushed = await cost(a.link, () => a.link.push());
  expect(pushed.requests).toBeLessThanOrEqual(6);
  const plain = await device(remote, {}, { indexes: { byNth: { path: '/nth' } } });
  const cloned = await cost(plain.link, () => plain.link.pull());
  expect(cloned.requests).toBe(pushed.requests - 2);
  expect(cloned.received).toBeLessThan(60_000 * 100);
  const sums = await device(remote, {}, { sums: { total: { sum: '/nth' } } });
  expect(await sums.link.pull()).toMatchObject({ applied: 60_000 });
  expect(sums.db.sumTree('total').root.sum).toBe((59_999n * 60_000n) / 2n);
  const last = plain.db.scan({ index: 'byNth', gte: 59_998 }).keys();
  expect(await last.toArray()).toEqual(['k059998', 'k059999']);
  for (const { db } of [plain, sums]) {
    expect(await db.verify()).toMatchObject({ ok: true, rows: 60_000 });
    expect(await rowsOf(db)).toEqual(await rowsOf(a.db));
  }
});

it('a device that was away for longer than the tail reaches comes back', async () => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote), await device(remote)];
  await a.db.putMany(many(20_000, 'a note'));
  await a.link.push();
  await b.link.pull();
  for (let nth = 0; nth < 150; nth++) {
    await a.db.put(`k${nth}`, nth);
    await a.link.push();
  }
  await b.db.put('own', 1);
  const { requests } = await cost(b.link, () => b.link.pull());
  // The head, a pack for each checkpoint since, and the logs behind the last.
  expect(requests).toBeLessThanOrEqual(7);
  await b.link.push();
  await a.link.pull();
  expect(await rowsOf(b.db)).toEqual(await rowsOf(a.db));
  const fresh = await device(remote);
  await fresh.link.pull();
  expect(await rowsOf(fresh.db)).toEqual(await rowsOf(a.db));
});

it('a clone that was cut off goes on with the packs that it lacks', async () => {
  const inner = memoryRemote();
  const a = await device(inner);
  await a.db.putMany(many(170_000, 'a note'));
  await a.link.push();
  let [left, fetched] = [6, 0];
  const remote: Remote = {
    ...inner,
    async get(...call) {
      if (left-- <= 0) throw offline();
      fetched += 1;
      return inner.get(...call);
    },
  };
  const b = await device(remote);
  await expect(b.link.pull()).rejects.toEqual(failure('offline'));
  expect(await b.db.count()).toBe(0);
  left = 100;
  const { link } = { link: await b.db.remote(remote, { probe: false }) };
  const again = await cost(link, () => link.pull());
  const whole = await device(inner);
  const all = await cost(whole.link, () => whole.link.pull());
  // What had come was committed before the error was told.
  expect(again.requests).toBe(all.requests - 6);
  expect(fetched).toBe(6 + again.requests - 1);
  expect(await b.db.count()).toBe(170_000);
});

function stoppable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

/** The packs of a remote whose answers wait until `answer` is called; `asked` has the names, in order. */
function waiting(inner: Remote) {
  const asked: string[] = [];
  const answers = new Map<string, () => void>();
  const remote: Remote = {
    ...inner,
    async get(name, ...rest) {
      asked.push(name);
      const arrived = new Promise<void>((resolve) => answers.set(name, resolve));
      await until(arrived, rest[1]?.signal);
      return inner.get(name, ...rest);
    },
  };
  return { remote, asked, answer: (nth: number) => answers.get(asked[nth] as string)?.() };
}

it('a clone commits what has come before it waits, so that a crash costs the packs on their way', async () => {
  const inner = memoryRemote();
  const a = await device(inner);
  await a.db.putMany(many(170_000, 'a note'));
  await a.link.push();
  const storage = memory();
  const { remote, asked, answer } = waiting(inner);
  const b = await device(remote, {}, { storage });
  const packs: number[] = [];
  const { signal, abort } = stoppable();
  const onProgress = (progress: SyncProgress) => void packs.push(progress.packs);
  const pulling = b.link.pull({ signal, onProgress });
  await expect.poll(() => asked.length).toBe(4);
  answer(0);
  await expect.poll(() => asked.length).toBe(5);
  // It is in a commit before the next one comes. So is that.
  const c = await open('app', { storage });
  const landed = () => c.branch('remote/origin/landing').then((branch) => branch.count());
  await expect.poll(landed).toBeGreaterThan(0);
  const rows = await landed();
  answer(1);
  await expect.poll(() => packs).toEqual([1, 2]);
  await expect.poll(landed).toBeGreaterThan(rows);
  // All is in storage by now. Its lock would end with its page.
  abort();
  await expect(pulling).rejects.toEqual(failure('aborted'));
  const again = waiting(inner);
  const link = await c.remote(again.remote, { probe: false });
  const next = stoppable();
  const goingOn = link.pull({ signal: next.signal });
  await expect.poll(() => again.asked.length).toBe(4);
  expect(again.asked).toEqual(asked.slice(2, 6));
  next.abort();
  await expect(goingOn).rejects.toEqual(failure('aborted'));
});

it('a clone that was aborted fetches no pack again that has come', async () => {
  const inner = memoryRemote();
  const a = await device(inner);
  await a.db.putMany(many(170_000, 'a note'));
  await a.link.push();
  const { remote, asked, answer } = waiting(inner);
  const b = await device(remote);
  const controller = new AbortController();
  const pulling = b.link.pull({ signal: controller.signal });
  await expect.poll(() => asked.length).toBe(4);
  // Not the first one: nothing can be applied yet.
  for (const nth of [1, 3]) answer(nth);
  await new Promise((resolve) => setTimeout(resolve, 300));
  controller.abort();
  await expect(pulling).rejects.toEqual(failure('aborted'));
  const before = asked.slice();
  const again = b.link.pull();
  for (let nth = 4; (await Promise.race([again, pause(50)])) === undefined; ) {
    while (nth < asked.length) answer(nth++);
  }
  const fresh = asked.slice(4);
  expect(fresh.filter((name) => before.includes(name))).toEqual([before[0], before[2]]);
  expect(new Set(fresh).size).toBe(fresh.length);
  expect(await rowsOf(b.db)).toEqual(await rowsOf(a.db));
});

it('a push whose answer was lost is recognised, and pushed once', async () => {
  const inner = memoryRemote();
  let swaps = 0;
  const remote: Remote = {
    ...inner,
    async swapHead(...call): Promise<Swap> {
      swaps += 1;
      const swap = await inner.swapHead(...call);
      return swaps === 1 ? { state: 'unknown', cause: offline() } : swap;
    },
  };
  const a = await device(remote);
  await a.db.put('a', 1);
  expect(await a.link.push()).toMatchObject({ seq: 1 });
  expect(swaps).toBe(1);
  await a.db.put('a', 2);
  await a.link.push();
  const b = await device(inner);
  await b.link.pull();
  expect(await rowsOf(b.db)).toEqual({ a: 2 });
});

it('an edit after a push whose answer never came is no conflict', async () => {
  const inner = memoryRemote();
  let isCut = true;
  const remote: Remote = {
    ...inner,
    async swapHead(...call) {
      const swap = await inner.swapHead(...call);
      if (isCut) throw new Error('the page was closed');
      return swap;
    },
  };
  const a = await device(remote);
  await a.db.put('a', { n: 1 });
  await expect(a.link.push()).rejects.toThrow('closed');
  isCut = false;
  await a.db.put('a', { n: 2 });
  const link = await a.db.remote(remote, { probe: false });
  expect(await link.push()).toMatchObject({ seq: 2, conflicts: 0 });
  expect(await rowsOf(a.db)).toEqual({ a: { n: 2 } });
});

it('a remote that went back, or is another one, is refused, and rows stay', async () => {
  const inner = memoryRemote();
  const a = await device(inner);
  await a.db.put('a', 1);
  await a.link.push();
  const old = await inner.readHead('main');
  await a.db.put('a', 2);
  await a.link.push();
  const stale = await a.db.remote({ ...inner, readHead: async () => old }, { probe: false });
  await expect(stale.pull()).rejects.toEqual(failure('rollback'));
  const other = memoryRemote();
  await (await device(other)).link.push();
  const b = await device(other);
  await b.db.put('b', 1);
  await b.link.push();
  const elsewhere = await a.db.remote(other, { probe: false });
  await expect(elsewhere.pull()).rejects.toEqual(failure('rollback'));
  const empty = await a.db.remote(memoryRemote(), { probe: false });
  await expect(empty.pull()).rejects.toEqual(failure('remote-gone'));
  expect(await rowsOf(a.db)).toEqual({ a: 2 });
});

it('damaged heads, deltas and packs are invalid-remote, and rows stay', async () => {
  const inner = memoryRemote();
  const a = await device(inner);
  await a.db.putMany(many(30_000, 'first'));
  await a.link.push();
  await a.db.putMany(many(3000, 'second'));
  await a.link.push();
  const flipped = (bytes: Uint8Array | undefined): Uint8Array | undefined =>
    bytes?.with(bytes.length >> 1, (bytes[bytes.length >> 1] as number) ^ 1);
  const wrong: Remote[] = [
    {
      ...inner,
      async readHead(...call) {
        const head = await inner.readHead(...call);
        return head && { ...head, bytes: flipped(head.bytes) as Uint8Array };
      },
    },
    { ...inner, get: async (...call) => flipped(await inner.get(...call)) },
    { ...inner, get: async () => undefined },
    { ...inner, get: async (...call) => (await inner.get(...call))?.subarray(0, 100) },
  ];
  for (const remote of wrong) {
    const b = await device(remote);
    await b.db.put('own', 1);
    await expect(b.link.pull()).rejects.toEqual(failure('invalid-remote'));
    expect(await rowsOf(b.db)).toEqual({ own: 1 });
    // It goes on with a sound one.
    const link = await b.db.remote(inner, { probe: false });
    expect(await link.pull()).toMatchObject({ applied: 30_000 });
  }
});

it('where a newer app has written, an older one pulls and does not push', async () => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote, { app: 2 }), await device(remote, { app: 1 })];
  await a.db.put('a', 1);
  await a.link.push();
  await b.db.put('b', 1);
  await expect(b.link.push()).rejects.toEqual(failure('unsupported-format'));
  expect(await rowsOf(b.db)).toEqual({ a: 1, b: 1 });
});

it('a store asks once whether a remote is safe, and pushes to no other', async () => {
  const a = await device(memoryRemote(), { probe: true });
  await a.db.put('a', 1);
  const first = await cost(a.link, () => a.link.push());
  await a.db.put('a', 2);
  const again = await cost(a.link, () => a.link.push());
  expect([first.requests > 10, again.requests]).toEqual([true, 1]);
  const inner = memoryRemote();
  const liar: Remote = {
    ...inner,
    swapHead: async (branch, _token, bytes) => {
      const head = await inner.readHead(branch);
      return inner.swapHead(branch, head?.token, bytes);
    },
  };
  const b = await device(liar, { probe: true });
  await b.db.put('b', 1);
  await expect(b.link.push()).rejects.toEqual(failure('remote-unsafe'));
  expect(await inner.list('h/')).toEqual([]);
});

it('a loop pushes what is committed, pulls what it is poked for, and ends with its store', async () => {
  const remote = memoryRemote();
  const [a, b] = [await device(remote), await device(remote)];
  const states: string[] = [];
  let poke = () => {};
  const pokes = (call: () => void) => {
    poke = call;
    return () => {};
  };
  const options = { pauseMs: 0, pokes };
  const loop = a.link.sync({ ...options, onState: ({ status }) => void states.push(status) });
  await a.db.put('a', 1);
  await expect.poll(async () => (await b.link.pull()).seq).toBe(1);
  await b.db.put('b', 1);
  await b.link.push();
  poke();
  await expect.poll(() => a.db.get('b')).toBe(1);
  await expect.poll(() => loop.state.status).toBe('synced');
  await a.db.close();
  await loop.over;
  expect(states.at(-1)).toBe('stopped');
  expect(states).toContain('syncing');
});

it('without a network a loop is offline, and goes on when it is back', async () => {
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
  const loop = a.link.sync({ pauseMs: 0 });
  await expect.poll(() => loop.state).toMatchObject({ isPending: true });
  isDown = false;
  loop.poke();
  await expect.poll(() => loop.state, { timeout: 5000 }).toMatchObject({ isPending: false });
  await loop.stop();
});
