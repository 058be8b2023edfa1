/** The page of the storage contract. An error that nobody handles in it fails the test. */
import type { Page } from '@playwright/test';
import { test as base, expect } from './fixtures.js';

export { expect };

const PAGE = '/contract.html';

const failures: Error[] = [];

export const test = base.extend<{ pageErrors: undefined }>({
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
export async function visit(page: Page): Promise<Page> {
  page.on('pageerror', (error) => failures.push(error));
  await page.goto(PAGE);
  return page;
}

export function openStore(page: Page, name: string): Promise<void> {
  return page.evaluate(async (name) => {
    window.store = await window.idb().open(name);
  }, name);
}
