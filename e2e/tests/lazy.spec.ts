/**
 * Lazy clones in real browsers: over HTTP, from the reference server, on IndexedDB on disk; plain, and with an
 * encrypted remote and encrypted storage. The link counts the cost of a read, and so does the wire.
 */
import { createHash } from 'node:crypto';
import { type RemoteServer, serveRemote } from '@hedgerow/server';
import { memory, open, type Store } from 'hedgerow';
import { remoteKeys } from 'hedgerow/encryption';
import {
  type BucketConnection,
  bucket,
  httpRemote,
  memoryRemote,
  type Remote,
} from 'hedgerow/sync';
import { openWire, type Wire } from '../bench/lib/sync/wire.mjs';
import type { LazyPlace } from '../pages/lazy.js';
import { expect, type Page, test } from './fixtures.js';

const ROWS = 60_000;
const KEY = Array.from({ length: 32 }, (_, at) => 7 * at);
const KINDS = [
  ['plain', undefined],
  ['encrypted', KEY],
] as const;

const keyOf = (nth: number) => `issue/${String(nth).padStart(8, '0')}`;

/** Makes a row of about 130 bytes; half of them hardly compress. */
function rowOf(nth: number, state = 'open') {
  const title = createHash('sha256').update(String(nth)).digest('hex').slice(0, 60);
  return { id: keyOf(nth), title, state, points: nth % 100 };
}

const entryOf = (nth: number) => [keyOf(nth), rowOf(nth)];
const entries = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => entryOf(from + at));

/** The reference server with a remote, on a wire that counts; it can be stopped, and restarted elsewhere. */
class Net {
  readonly #remote: Remote = memoryRemote();
  #server: RemoteServer | undefined;
  #wire: Wire | undefined;

  async start(): Promise<void> {
    this.#server = await serveRemote(this.#remote, { origin: '*' });
    this.#wire = await openWire(Number(new URL(this.#server.url).port), 0);
  }

  get wire(): Wire {
    return this.#wire as Wire;
  }

  /** Refuses all requests from now on. */
  async stop(): Promise<void> {
    await this.#wire?.close();
    await this.#server?.close();
    this.#wire = undefined;
    this.#server = undefined;
  }
}

interface World {
  readonly net: Net;
  /** Another device, in this process, which has put the rows. */
  readonly other: Store;
  /** Its link to the remote, wherever that is now. */
  linked(): Promise<BucketConnection>;
}

async function withRemote(
  key: readonly number[] | undefined,
  run: (world: World) => Promise<void>,
): Promise<void> {
  const net = new Net();
  await net.start();
  const other = await open('other', { storage: memory() });
  const encryption = key && remoteKeys({ place: 'room', keys: () => Uint8Array.from(key) });
  const linked = () =>
    other.connect(bucket(httpRemote({ url: net.wire.url }), { probe: false, encryption }));
  try {
    const rows = Array.from({ length: ROWS }, (_, nth) => rowOf(nth));
    await other.putMany(rows, { key: '/id' });
    await (await linked()).push();
    net.wire.counts.take();
    await run({ net, other, linked });
  } finally {
    await other.close();
    await net.stop();
  }
}

async function visit(page: Page): Promise<Page> {
  await page.goto('/lazy.html');
  await page.waitForFunction(() => window.openLazy !== undefined);
  return page;
}

const openLazy = (page: Page, place: LazyPlace) =>
  page.evaluate((place) => window.openLazy(place), place);

/** Calls the page's store, and returns the cost, too. */
const calls = (page: Page) => ({
  get: (nth: number) =>
    page.evaluate((key) => window.asked(async () => [await window.db.get(key)]), keyOf(nth)),
  getMany: (...all: readonly number[]) =>
    page.evaluate((keys) => window.asked(() => window.db.getMany(keys)), all.map(keyOf)),
  scan: (from: number, limit: number) =>
    page.evaluate(([gte, limit]) => window.asked(() => window.db.scan({ gte, limit }).toArray()), [
      keyOf(from),
      limit,
    ] as const),
  put: (nth: number, value: unknown) =>
    page.evaluate(
      ([key, value]) =>
        window.asked(async () => {
          await window.db.put(key, value);
          return [];
        }),
      [keyOf(nth), value] as const,
    ),
  prefetch: (from: number, to: number) =>
    page.evaluate(
      ([gte, lt]) =>
        window.asked(async () => {
          await window.link.prefetch({ gte, lt });
          return [];
        }),
      [keyOf(from), keyOf(to)] as const,
    ),
  /** Knows all rows, and must not ask the remote. */
  look: () =>
    page.evaluate(() =>
      window.asked(async () => {
        const { ok, rows, remoteRows } = await window.db.health.verify();
        const counted = [await window.db.count(), (await window.db.health.stats()).rows];
        return [ok, rows + remoteRows, remoteRows > 0, ...counted];
      }),
    ),
});

for (const [kind, key] of KINDS) {
  test(`a lazy clone reads what it needs, and keeps it without a network (${kind})`, async ({
    persistentPage,
  }) => {
    await withRemote(key, async ({ net, other, linked }) => {
      const page = await visit(persistentPage.page);
      const place = { name: 'app', key };
      const opened = await openLazy(page, { ...place, url: net.wire.url });
      expect(opened.requests).toBe(2);
      expect(opened.bytes).toBeLessThan(40_000);
      expect(await page.evaluate(() => window.db.root)).toBe(other.root);
      const { get, getMany, scan, prefetch, look } = calls(page);
      // A frame of nodes, then one of rows.
      const first = await get(30_000);
      expect(first).toMatchObject({ rows: [rowOf(30_000)], requests: 2 });
      expect(first.bytes).toBeLessThan(70_000);
      expect(await get(30_000)).toMatchObject({ rows: [rowOf(30_000)], requests: 0, bytes: 0 });
      const near = await scan(30_000, 100);
      expect(near.rows).toEqual(entries(30_000, 30_100));
      expect(near.requests).toBeLessThanOrEqual(2);
      expect(await getMany(5, 20_000, 59_999)).toMatchObject({
        rows: [5, 20_000, 59_999].map((nth) => rowOf(nth)),
      });
      const fetched = await prefetch(1000, 3000);
      expect(fetched.code).toBeUndefined();
      expect(fetched.requests).toBeGreaterThan(0);
      expect((await scan(1000, 2000)).rows).toEqual(entries(1000, 3000));
      // Rows that are read ahead may come later, and are counted then.
      const all = { rows: [true, ROWS, true, ROWS, ROWS], requests: 0, bytes: 0 };
      await expect.poll(look).toEqual(all);
      // The link counts all traffic, and there is no other.
      const { requests } = await page.evaluate(() => window.link.traffic);
      expect(net.wire.counts.take().requests).toBe(requests);

      const { url } = net.wire;
      await net.stop();
      const alone = await visit(await persistentPage.relaunch());
      await openLazy(alone, { ...place, url });
      const off = calls(alone);
      expect((await off.scan(1000, 2000)).rows).toEqual(entries(1000, 3000));
      expect((await off.get(30_000)).rows).toEqual([rowOf(30_000)]);
      const missed = await off.get(45_000);
      expect(missed.code).toBe('offline');
      const { gt = '', lte = '' } = missed.range ?? {};
      expect(gt < keyOf(45_000) && keyOf(45_000) <= lte).toBe(true);
      expect((await off.put(2000, 'mine')).code).toBeUndefined();
      expect((await off.put(45_000, 'mine')).code).toBe('offline');
      expect((await off.get(2000)).rows).toEqual(['mine']);
      expect((await off.look()).rows).toEqual(all.rows);

      await net.start();
      const again = await visit(await persistentPage.relaunch());
      await openLazy(again, { ...place, url: net.wire.url });
      const on = calls(again);
      expect((await on.get(45_000)).rows).toEqual([rowOf(45_000)]);
      expect((await on.put(45_001, 'mine, too')).code).toBeUndefined();
      await again.evaluate(() => window.link.push());
      const link = await linked();
      await link.pull();
      expect(await other.getMany([keyOf(2000), keyOf(45_001)])).toEqual(['mine', 'mine, too']);
      await other.putMany([rowOf(2001, 'shut'), rowOf(50_000, 'shut')], { key: '/id' });
      await link.push();
      const { rows } = await again.evaluate(() => window.link.pull());
      expect(rows).toBeGreaterThan(0);
      const shut = [rowOf(2001, 'shut'), rowOf(50_000, 'shut')];
      expect((await on.getMany(2001, 50_000)).rows).toEqual(shut);
      expect(await again.evaluate(() => window.db.root)).toBe(other.root);
      const last = await on.look();
      expect(last.rows?.slice(0, 3)).toEqual([true, ROWS, true]);
    });
  });

  test(`damage to a lazy clone is fetched again, or repaired (${kind})`, async ({
    persistentPage,
  }) => {
    await withRemote(key, async ({ net, other, linked }) => {
      const place = { name: 'app', url: net.wire.url, key };
      const before = await visit(persistentPage.page);
      await openLazy(before, place);
      await calls(before).prefetch(1000, 9000);
      // A new page starts with an empty memory.
      const page = await visit(await persistentPage.relaunch());
      const after = await damage(page, 'app', { step: 500 });
      await openLazy(page, place);
      const { look, scan } = calls(page);
      // Rows from the remote are fetched again, and so no fault.
      expect((await look()).rows?.slice(0, 3)).toEqual([true, ROWS, true]);
      const again = await scan(1000, 8000);
      expect(again.rows).toEqual(entries(1000, 9000));
      expect(again.requests).toBeGreaterThan(0);
      await expect.poll(async () => (await scan(1000, 8000)).requests).toBe(0);

      // Leaves made here and pushed are at the remote as rows of its tail.
      await page.evaluate(async () => {
        const { db, link } = window;
        const rows = await db.scan({ prefix: 'issue/00003' }).toArray();
        await db.putMany(rows.map(([at, row]) => [at, { ...(row as object), state: 'shut' }]));
        await link.push();
      });
      const damaged = await visit(await persistentPage.relaunch());
      // In any order of its writes, the reads of that page are fetched again, and are no fault.
      await damage(damaged, 'app', { after });
      await openLazy(damaged, place);
      const found = await damaged.evaluate(async () => {
        const { ok, faults } = await window.db.health.verify();
        return { ok, chunks: new Set(faults.map(({ chunk }) => chunk)).size };
      });
      expect(found.ok).toBe(false);
      // Encrypted segments are damaged by frames of up to 64 KiB.
      expect(found.chunks).toBeGreaterThan(0);
      if (kind === 'plain') expect(found.chunks).toBe(1);
      const mended = await damaged.evaluate(() =>
        window.asked(async () => [await window.link.repair()]),
      );
      await (await linked()).pull();
      const facts = { root: other.root, fetched: found.chunks, rowsLost: 0, lost: [] };
      expect(mended.rows).toEqual([expect.objectContaining(facts)]);
      // The head, the directory, a frame, and the object that the tail names.
      if (kind === 'plain') expect(mended.requests).toBeLessThanOrEqual(4);
      const shut = Array.from({ length: 1000 }, (_, at) => rowOf(3000 + at, 'shut'));
      const rows = await calls(damaged).scan(3000, 1000);
      expect(rows.rows).toEqual(shut.map((row) => [row.id, row]));
      expect((await calls(damaged).look()).rows?.slice(0, 3)).toEqual([true, ROWS, true]);
    });
  });
}

/**
 * Flips bits of the large segments of a store whose ids are above `after`: one in the middle of each, or one in every
 * `step` bytes. Resolves to the highest id of a segment.
 */
async function damage(page: Page, name: string, { after = 0, step = 0 }): Promise<number> {
  const newest = await page.evaluate(
    async ([name, after, step]) => {
      let newest = 0;
      await window.editRecords(name, 'segments', (value, key) => {
        const bytes = value as Uint8Array;
        newest = Math.max(newest, key as number);
        if (bytes.length <= 40_000 || (key as number) <= after) return bytes;
        const every = step || bytes.length;
        for (let at = every >> 1; at < bytes.length; at += every) bytes[at]! ^= 1;
        return bytes;
      });
      return newest;
    },
    [name, after, step] as const,
  );
  expect(newest).toBeGreaterThan(after);
  return newest;
}

test('reads of parts of objects need no preflight', async ({ persistentPage }) => {
  await withRemote(undefined, async ({ net }) => {
    const page = await visit(persistentPage.page);
    const taken = () => net.wire.counts.take();
    await openLazy(page, { name: 'app', url: net.wire.url });
    expect(taken().statuses).toEqual(['GET 200', 'GET 200']);
    const { get, scan, prefetch } = calls(page);
    await get(30_000);
    // The page has another origin: with any other header, or another form of `Range`, each would be two requests.
    expect(taken().statuses).toEqual(['GET 206', 'GET 206']);
    await scan(40_000, 5000);
    await prefetch(1000, 9000);
    const { statuses } = taken();
    expect(statuses.length).toBeGreaterThan(2);
    // Rows that are read ahead may have no answer yet.
    expect(statuses.filter((one) => one !== 'GET 206' && one !== 'GET 0')).toEqual([]);
  });
});
