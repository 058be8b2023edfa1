/** Shares setup among the specs of the inspector. */
import type { BrowserContext, Page as ChromiumPage } from '@playwright/test';
import { expect, type Page, test } from './fixtures.js';

export const SLOWLY = { timeout: 60_000 };

/** Makes the app's stores in a page, and leaves it open. */
export async function madeIn(page: Page): Promise<string> {
  await page.goto('/inspector.html');
  await page.waitForFunction(() => window.inspected !== undefined);
  await page.evaluate(async () => {
    window.inspectedStore = await window.inspected.make();
  });
  return page.evaluate(() => window.inspected.href);
}

export const rootOf = (page: Page) => page.evaluate(() => window.inspectedStore.root);

const errors: string[] = [];

/** Opens the inspector in a tab next to the app. */
export async function inspector(
  context: BrowserContext,
  href: string,
  hash = '',
): Promise<ChromiumPage> {
  const page = await context.newPage();
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(href + hash);
  return page;
}

/** Fails a test for each uncaught error in an inspector. */
export function expectNoErrors(): void {
  test.beforeEach(() => {
    errors.length = 0;
  });
  test.afterEach(() => {
    expect(errors).toEqual([]);
  });
}

export const tab = (page: ChromiumPage, name: string) =>
  page.getByRole('tab', { name, exact: true });
export const list = (page: ChromiumPage) => page.getByRole('listbox');
export const option = (page: ChromiumPage, text: string) =>
  list(page).getByRole('option').filter({ hasText: text });
export const total = (page: ChromiumPage) => page.locator('.rows output');
export const message = (page: ChromiumPage) => page.locator('.message');
export const value = (page: ChromiumPage) => page.getByLabel('Value', { exact: true });
