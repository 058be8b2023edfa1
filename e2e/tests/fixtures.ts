import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BrowserContext, test as base, chromium, type Page } from '@playwright/test';

// In the repository, since a system's temporary folder may lie in memory: what a test
// says of durability and time must hold for a disk.
const PROFILES_DIR = fileURLToPath(new URL('../../.cache/profiles', import.meta.url));

/** A browser of its own with an on-disk profile, which outlives the browser. */
export interface PersistentPage {
  /** The open page, with `window.hedgerow` ready; another one after `relaunch`. */
  readonly page: Page;
  /** The running browser, for further pages (tabs) of the same profile. */
  readonly context: BrowserContext;
  /** Opens a further tab of the test page, with `window.hedgerow` ready. */
  newPage(): Promise<Page>;
  /** Closes the browser and starts it again on the same profile; returns the new page. */
  relaunch(): Promise<Page>;
}

/** Loads the test page into `page`. */
export async function openTestPage(page: Page): Promise<Page> {
  await page.goto('/');
  await page.waitForFunction(() => window.hedgerow !== undefined);
  return page;
}

export const test = base.extend<{ persistentPage: PersistentPage }>({
  persistentPage: async ({ launchOptions, baseURL }, use) => {
    await mkdir(PROFILES_DIR, { recursive: true });
    const profileDir = await mkdtemp(join(PROFILES_DIR, 'profile-'));

    const launch = async () => {
      const options = { ...launchOptions, ...(baseURL === undefined ? {} : { baseURL }) };
      const context = await chromium.launchPersistentContext(profileDir, options);
      // The browser starts with one blank page.
      const page = context.pages()[0] ?? (await context.newPage());
      return { context, page: await openTestPage(page) };
    };

    let running: Awaited<ReturnType<typeof launch>> | undefined;
    const current = () => {
      if (running === undefined) throw new Error('the browser is not running');
      return running;
    };
    const relaunch = async () => {
      await running?.context.close();
      running = undefined;
      running = await launch();
      return running.page;
    };

    try {
      await relaunch();
      await use({
        get page() {
          return current().page;
        },
        get context() {
          return current().context;
        },
        newPage: async () => openTestPage(await current().context.newPage()),
        relaunch,
      });
    } finally {
      await running?.context.close();
      await rm(profileDir, { recursive: true, force: true, maxRetries: 5 });
    }
  },
});

export { expect } from '@playwright/test';
