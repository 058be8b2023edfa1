/** Stores in real browsers that meet at the reference server. */

import { serveRemote } from '@hedgerow/server';
import { memory, open, type Store } from 'hedgerow';
import { type BucketConnection, bucket, httpRemote, memoryRemote } from 'hedgerow/sync';
import { openWire } from '../bench/lib/sync/wire.mjs';
import { expect, type Page, test } from './fixtures.js';

declare global {
  interface Window {
    synced: { db: Store; link: BucketConnection };
    pushing: { db: Store; link: BucketConnection };
  }
}

async function visit(page: Page): Promise<void> {
  await page.goto('/remote.html');
  await page.waitForFunction(() => window.openStore !== undefined);
}

test('two stores of a browser meet at a server, and merge their changes', {
  tag: '@core',
}, async ({ persistentPage }) => {
  const server = await serveRemote(memoryRemote(), { origin: '*' });
  try {
    const { page } = persistentPage;
    await visit(page);
    const found = await page.evaluate(async (http: string) => {
      const remote = () => window.remoteAt({ http });
      const [a, b] = [await window.openStore('one'), await window.openStore('two')];
      const [first, second] = [
        await a.connect(window.bucket(remote())),
        await b.connect(window.bucket(remote())),
      ];
      const rows = Array.from({ length: 2000 }, (_, nth) => ({
        id: `row/${nth}`,
        nth,
        state: 'open',
      }));
      await a.putMany(rows, { key: '/id' });
      const pushed = await first.push();
      const cloned = await second.pull();
      await a.put('row/7', { ...rows[7], state: 'closed' });
      await b.put('row/7', { ...rows[7], nth: -7 });
      await first.push();
      const before = second.traffic.requests;
      const pulled = await second.pull();
      const requests = second.traffic.requests - before;
      await second.push();
      await first.pull();
      const values = [await a.get('row/7'), await b.get('row/7'), await a.count()];
      for (const db of [a, b]) await db.close();
      return {
        edits: pushed.rows,
        cloned: cloned.rows,
        pulled: pulled.rows,
        requests,
        values,
      };
    }, server.url);
    const row = { id: 'row/7', nth: -7, state: 'closed' };
    expect(found).toEqual({
      edits: 2000,
      cloned: 2000,
      pulled: 1,
      requests: 1,
      values: [row, row, 2000],
    });
  } finally {
    await server.close();
  }
});

/** Records the requests of a page's pushes and pulls to a server of another origin. */
async function onWire(page: Page, run: (asked: Asked) => Promise<void>): Promise<void> {
  const server = await serveRemote(memoryRemote(), { origin: '*' });
  const wire = await openWire(Number(new URL(server.url).port), 0);
  try {
    await visit(page);
    await page.evaluate(async (http: string) => {
      const db = await window.openStore('pushing');
      const link = await db.connect(window.bucket(window.remoteAt({ http }), { probe: false }));
      Object.assign(window, { pushing: { db, link } });
    }, wire.url);
    await run({
      push: async (value) => {
        await page.evaluate(async (value) => {
          const { db, link } = window.pushing;
          await db.put('key', value);
          await link.push();
        }, value);
        return wire.counts.take().statuses;
      },
      pull: async () => {
        await page.evaluate(() => window.pushing.link.pull());
        return wire.counts.take().statuses;
      },
    });
  } finally {
    await wire.close();
    await server.close();
  }
}

interface Asked {
  push(value: number): Promise<readonly string[]>;
  pull(): Promise<readonly string[]>;
}

test('a push needs one preflight, and a poll without news is a 304 @chromium', async ({
  persistentPage,
}) => {
  await onWire(persistentPage.page, async ({ push, pull }) => {
    // The file of the repository, and the head after it, on one preflight.
    expect((await push(1)).slice(-3)).toEqual(['OPTIONS 204', 'PUT 201', 'PUT 200']);
    expect(await push(2)).toEqual(['PUT 200']);
    await pull();
    expect(await pull()).toEqual(['GET 304']);
  });
});

test('no cache of a browser answers a push', async ({ persistentPage }) => {
  await onWire(persistentPage.page, async ({ push, pull }) => {
    await push(1);
    for (let value = 2; value < 5; value++) {
      // The cache may have the head then.
      await pull();
      expect((await push(value)).at(-1)).toBe('PUT 200');
    }
  });
});

test('a clone that a reload cut off resumes', async ({ persistentPage }) => {
  const inner = memoryRemote();
  let fetched = 0;
  const counted: typeof inner = {
    ...inner,
    get: (...call) => {
      fetched += 1;
      return inner.get(...call);
    },
  };
  const server = await serveRemote(counted, { origin: '*' });
  try {
    const { page } = persistentPage;
    await visit(page);
    const packs = await page.evaluate(async (http: string) => {
      const db = await window.openStore('source');
      const text = (nth: number) =>
        Array.from({ length: 20 }, (_, at) => (nth * 7919 + at * 104_729) % 9973).join('-');
      const rows = Array.from({ length: 260_000 }, (_, nth) => ({
        id: `row/${String(nth).padStart(7, '0')}`,
        text: text(nth),
      }));
      await db.putMany(rows, { key: '/id' });
      const link = await db.connect(window.bucket(window.remoteAt({ http }), { probe: false }));
      await link.push();
      // All requests but the head, the repository, and two heads.
      const all = link.traffic.requests - 4;
      await db.close();
      return all;
    }, server.url);
    expect(packs).toBeGreaterThan(8);
    fetched = 0;
    // The reload ends the page in the middle of its clone.
    await page.evaluate(async (http: string) => {
      const db = await window.openStore('clone');
      const link = await db.connect(window.bucket(window.remoteAt({ http }), { probe: false }));
      await new Promise<void>((resolve) => {
        const onProgress = ({ packs }: { packs: number }) => packs === 7 && resolve();
        link.pull({ onProgress }).catch(() => {});
      });
    }, server.url);
    await visit(page);
    const before = fetched;
    const counted = await page.evaluate(async (http: string) => {
      const db = await window.openStore('clone');
      const count = await db.count();
      const link = await db.connect(window.bucket(window.remoteAt({ http }), { probe: false }));
      const { rows: applied } = await link.pull();
      const { ok, rows } = await db.health.verify();
      await db.close();
      return { count, applied, ok, rows };
    }, server.url);
    expect(counted).toEqual({ count: 0, applied: 260_000, ok: true, rows: 260_000 });
    // At least four packs were committed.
    expect(fetched - before).toBeLessThanOrEqual(packs - 4);
  } finally {
    await server.close();
  }
});

test("a loop hears of pushes by events, and pushes its page's commits", async ({
  persistentPage,
}) => {
  const server = await serveRemote(memoryRemote(), { origin: '*' });
  const other = await open('other', { storage: memory() });
  try {
    const { page } = persistentPage;
    await visit(page);
    await page.evaluate(async (http: string) => {
      const db = await window.openStore('synced');
      const link = await db.connect(window.bucket(window.remoteAt({ http })));
      const subscribe = window.serverPokes(http);
      link.start({ everyMs: 3_600_000, pauseMs: 0, subscribe });
      await db.put('from the page', 1);
      Object.assign(window, { synced: { db, link } });
    }, server.url);
    const link = await other.connect(bucket(httpRemote({ url: server.url })));
    await expect
      .poll(async () => {
        await link.pull();
        return other.get('from the page');
      })
      .toBe(1);
    // The next poll of the page is an hour away.
    await expect.poll(() => page.evaluate(() => window.synced.link.state.status)).toBe('synced');
    await other.put('from elsewhere', 2);
    await link.push();
    await expect.poll(() => page.evaluate(() => window.synced.db.get('from elsewhere'))).toBe(2);
    await page.evaluate(() => window.synced.db.close());
    expect(await page.evaluate(() => window.synced.link.state.status)).toBe('stopped');
  } finally {
    await other.close();
    await server.close();
  }
});
