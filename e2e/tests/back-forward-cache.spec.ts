/**
 * A page with an open store enters Chromium's back/forward cache, is in nobody's way there, and comes back
 * right: it reads what others have written, is told of it, writes, and collects when it is alone.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test as base, expect, type Page } from '@playwright/test';
import { withPlainBrowser } from '../alive/lib/plain-browser.mjs';

const PROFILES_DIR = fileURLToPath(new URL('../../.cache/profiles', import.meta.url));

/** A browser as users start it: Playwright's own has no such cache. */
const test = base.extend<{ tab: () => Promise<Page> }>({
  tab: async ({ baseURL, launchOptions: { executablePath } }, use) => {
    await mkdir(PROFILES_DIR, { recursive: true });
    const profileDir = await mkdtemp(join(PROFILES_DIR, 'cached-'));
    try {
      await withPlainBrowser({ profileDir, executablePath }, async (page) => {
        await use(async () => {
          const opened = await page.context().newPage();
          await opened.goto(`${baseURL}cached.html`);
          await opened.waitForFunction(() => window.cached !== undefined);
          return opened;
        });
      });
    } finally {
      await rm(profileDir, { recursive: true, force: true, maxRetries: 5 });
    }
  },
});

test('a page enters the back/forward cache and comes back right', async ({ tab }) => {
  const a = await tab();
  const session = await a.context().newCDPSession(a);
  // Why not, if it is not.
  session.on('Page.backForwardCacheNotUsed', (told) =>
    console.log(JSON.stringify(told.notRestoredExplanations)),
  );
  await session.send('Page.enable');
  await a.evaluate(() => window.cached.leave('cached'));
  const b = await tab();
  await b.evaluate(() => window.cached.away());
  // It has let go of the role of the collector.
  expect(await b.evaluate(() => window.cached.open('cached'))).toBe('this');
  await b.evaluate(() => window.cached.store.put('told/row', 'while it was away'));
  const found = await b.evaluate(() => window.cached.back());
  expect(found).toEqual({
    persisted: true,
    why: '',
    memory: 'memory of cached',
    read: 'while it was away',
    collector: 'other',
  });
  expect(await b.evaluate(() => window.cached.store.get('mine'))).toBe('came back');
  await b.evaluate(() => window.cached.store.close());
  await b.evaluate(() => window.cached.until(() => window.cached.found().collector === 'this'));
  expect((await b.evaluate(() => window.cached.found())).collector).toBe('this');
});

test('a store can be deleted while a page that has it open is in the cache', async ({ tab }) => {
  const a = await tab();
  await a.evaluate(() => window.cached.leave('deleted'));
  const b = await tab();
  await b.evaluate(() => window.cached.away());
  const ms = await b.evaluate(() => window.cached.deleted('deleted'));
  expect(ms).toBeLessThan(2000);
});
