/**
 * Tabs of Chromium as users start it: in Playwright's own, a covered page is not hidden, and there is no back/forward
 * cache.
 */
import type { CDPSession, Page } from '@playwright/test';
import { withPlainBrowser } from '../alive/lib/plain-browser.mjs';
import { ENGINES } from '../lib/engines/index.mjs';
import { test as base } from './fixtures.js';

/** Opens a page of `pages/` in a tab, and waits for a global of it. */
export type TabOf = (page: string, global: string) => Promise<Page>;

export const test = base.extend<{ tab: TabOf }>({
  tab: async ({ baseURL, engine, profileDir }, use) => {
    await withPlainBrowser({ profileDir, engine: ENGINES[engine] }, async (page) => {
      await use(async (name, global) => {
        const opened = await page.context().newPage();
        await opened.goto(`${baseURL}${name}.html`);
        await opened.waitForFunction((name) => name in window, global);
        return opened;
      });
    });
  },
});

/** Freezes a hidden page, as a browser does, or lets it go on. */
export async function frozen(session: CDPSession, isFrozen: boolean): Promise<void> {
  const state = isFrozen ? 'frozen' : 'active';
  await session.send('Page.setWebLifecycleState', { state });
}
