/** Opens the page of the storage contract. An unhandled error in it fails the test. */
import type { Page as PlaywrightPage } from '@playwright/test';
import { Tab } from '../lib/engines/tab.mjs';
import { test as base, expect, type Page } from './fixtures.js';

export { expect, type Page };

const PAGE = '/contract.html';

const failures: unknown[] = [];
/** The pages of engines that report errors only on request. */
const asked: { uncaught(): Promise<string[]> }[] = [];

export const test = base.extend<{ pageErrors: undefined }>({
  persistentPage: async ({ persistentPage }, use) => {
    asked.length = 0;
    await use(persistentPage);
    for (const page of asked) failures.push(...(await page.uncaught()));
  },
  pageErrors: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from it.
    async ({}, use) => {
      failures.length = 0;
      await use(undefined);
      expect(failures).toEqual([]);
    },
    { auto: true },
  ],
});

/** Opens the page. */
export async function visit<P extends Page>(page: P): Promise<P> {
  if (page instanceof Tab) asked.push(page);
  else (page as unknown as PlaywrightPage).on('pageerror', (error) => failures.push(error));
  await page.goto(PAGE);
  await page.waitForFunction(() => window.idb !== undefined);
  return page;
}

export function openStore(page: Page, name: string): Promise<void> {
  return page.evaluate(async (name) => {
    window.store = await window.idb().open(name);
  }, name);
}
