/** Tabs of a browser that hides what is covered, as Playwright's own does not: only hidden pages freeze. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test as base, type CDPSession, type Page } from '@playwright/test';
import { withPlainBrowser } from '../alive/lib/plain-browser.mjs';

const PROFILES_DIR = fileURLToPath(new URL('../../.cache/profiles', import.meta.url));

/** Opens a page of `pages/` in a tab, and waits for a global of it. */
export type TabOf = (page: string, global: string) => Promise<Page>;

export const test = base.extend<{ tab: TabOf }>({
  tab: async ({ baseURL, launchOptions: { executablePath } }, use) => {
    await mkdir(PROFILES_DIR, { recursive: true });
    const profileDir = await mkdtemp(join(PROFILES_DIR, 'frozen-'));
    try {
      await withPlainBrowser({ profileDir, executablePath }, async (page) => {
        await use(async (name, global) => {
          const opened = await page.context().newPage();
          await opened.goto(`${baseURL}${name}.html`);
          await opened.waitForFunction((name) => name in window, global);
          return opened;
        });
      });
    } finally {
      await rm(profileDir, { recursive: true, force: true, maxRetries: 5 });
    }
  },
});

/** Freezes a page that is hidden, as a browser does, or lets it go on. */
export async function frozen(session: CDPSession, isFrozen: boolean): Promise<void> {
  const state = isFrozen ? 'frozen' : 'active';
  await session.send('Page.setWebLifecycleState', { state });
}
