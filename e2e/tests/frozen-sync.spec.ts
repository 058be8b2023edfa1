/**
 * The tab that syncs for all is frozen, as Chromium freezes a hidden page, which keeps its locks: another one takes
 * over, and the frozen one finds its place when it goes on.
 */

import { serveRemote } from '@hedgerow/server';
import { expect } from '@playwright/test';
import { memory, open, type Store } from 'hedgerow';
import { type BucketConnection, bucket, httpRemote, memoryRemote } from 'hedgerow/sync';
import { frozen, test } from './plain-tabs.js';

declare global {
  interface Window {
    looping: { db: Store; link: BucketConnection };
  }
}

/** The longest time until another tab has taken over, even on a busy machine. */
const TAKES_OVER_MS = 60_000;

test('a tab that is frozen while it syncs is replaced, and goes on as a waiting one', {
  tag: '@chromium',
}, async ({ tab }) => {
  test.setTimeout(180_000);
  const server = await serveRemote(memoryRemote(), { origin: '*' });
  const away = await open('away', { storage: memory() });
  try {
    const link = await away.connect(bucket(httpRemote({ url: server.url })));
    const syncing = async () => {
      const page = await tab('remote', 'openStore');
      await page.evaluate(async (http: string) => {
        const db = await window.openStore('shared');
        const link = await db.connect(window.bucket(window.remoteAt({ http }), { probe: false }));
        link.start({ pauseMs: 0, everyMs: 5000 });
        window.looping = { db, link };
      }, server.url);
      const isLeader = () => page.evaluate(() => window.looping.link.state.isLeader);
      const put = (key: string) =>
        page.evaluate(async (key: string) => window.looping.db.put(key, 1), key);
      return { page, isLeader, put };
    };
    const arrives = async (key: string) => {
      const pulled = async () => {
        await link.pull();
        return away.get(key);
      };
      await expect.poll(pulled, { timeout: TAKES_OVER_MS }).toBe(1);
    };
    const a = await syncing();
    await a.put('of a');
    await arrives('of a');
    const b = await syncing();
    await expect.poll(b.isLeader).toBe(false);
    await b.page.bringToFront();
    const session = await a.page.context().newCDPSession(a.page);
    await frozen(session, true);
    const startMs = performance.now();
    await b.put('of b');
    await arrives('of b');
    console.log(`  taken over after ${Math.round(performance.now() - startMs)} ms`);
    await frozen(session, false);
    await expect.poll(a.isLeader, { timeout: TAKES_OVER_MS }).toBe(false);
    await a.put('of a again');
    await arrives('of a again');
    // Another device's push arrives once, in both.
    await away.put('of another', 1);
    await link.push();
    for (const { page } of [a, b]) {
      const found = () => page.evaluate(() => window.looping.db.get('of another'));
      await expect.poll(found, { timeout: TAKES_OVER_MS }).toBe(1);
    }
    for (const { page } of [a, b]) {
      await page.evaluate(async () => {
        await window.looping.link.close();
        await window.looping.db.close();
      });
    }
  } finally {
    await away.close();
    await server.close();
  }
});
