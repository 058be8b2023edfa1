/** Start-up in a real browser: errors that name what is missing, at the start or later, and loading parts early. */
import type { Page as PlaywrightPage } from '@playwright/test';
import { expect, type Page, test } from './fixtures.js';
import { visit } from './store-page.js';

/** Serves the page of the store with a content security policy. */
async function visitUnder(page: PlaywrightPage, policy: string): Promise<PlaywrightPage> {
  await page.route('**/store.html', async (route) => {
    const response = await route.fetch();
    const headers = { ...response.headers(), 'content-security-policy': policy };
    await route.fulfill({ response, headers });
  });
  return visit(page);
}

const openedUnder = (page: Page) =>
  page.evaluate(async () => {
    const { open, destroy, memory, missingFeatures } = window.hedgerow;
    const error = await open('policy', { storage: memory() }).then(
      () => undefined,
      ({ name, code, message }: { name: string; code: string; message: string }) => {
        return { name, code, message };
      },
    );
    let value: unknown;
    if (error === undefined) {
      const db = await open('policy');
      await db.put('a', 1);
      value = await db.get('a');
      await db.close();
      await destroy('policy');
    }
    return { error, value, missing: await missingFeatures() };
  });

test('a policy without wasm-unsafe-eval is unsupported, and named', { tag: '@chromium' }, async ({
  page,
}) => {
  await visitUnder(page, "script-src 'self'");
  const named = expect.stringContaining("'wasm-unsafe-eval'");
  expect(await openedUnder(page)).toEqual({
    error: { name: 'HedgerowError', code: 'unsupported', message: named },
    value: undefined,
    missing: [named],
  });
});

test('a policy of wasm-unsafe-eval alone is enough', { tag: '@chromium' }, async ({ page }) => {
  const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'none'";
  await visitUnder(page, `${policy}; require-trusted-types-for 'script'`);
  expect(await openedUnder(page)).toEqual({
    error: undefined,
    value: 1,
    missing: [],
  });
});

const codesOffline = (page: Page) =>
  page.evaluate(async () => {
    const db = await window.hedgerow.open('offline');
    const calls = [
      () => db.branches.open('draft').then((branch) => branch.put('a', 1)),
      () => db.branches.reset(db.root),
      () => db.branches.merge('draft'),
      () => db.health.verify(),
      () => db.prove('a'),
    ];
    const codes: unknown[] = [];
    for (const call of calls) codes.push(await window.codeOf(call()));
    return [...codes, await db.get('a')];
  });

test('offline, parts that were not loaded are not-loaded', { tag: '@chromium' }, async ({
  chromiumPage,
}) => {
  const page = await visit(chromiumPage.page);
  await chromiumPage.context.setOffline(true);
  const codes = await codesOffline(page);
  expect(codes).toEqual([...Array(5).fill('not-loaded'), undefined]);
});

test('offline, parts that were preloaded are there', {
  tag: '@chromium',
}, async ({ chromiumPage }) => {
  const page = await visit(chromiumPage.page);
  await page.evaluate(() => window.hedgerow.preload());
  await chromiumPage.context.setOffline(true);
  expect(await codesOffline(page)).toEqual([...Array(5).fill(undefined), 1]);
});

const RIGHT = { rows: 389, state: 128 };

/** Makes a service worker with this entry run the scenario, once the page has run its module. */
async function inServiceWorker(page: Page, entry: 'full' | 'plain'): Promise<unknown> {
  await page.goto('/service.html');
  await page.waitForFunction(() => window.inServiceWorker !== undefined);
  return page.evaluate((entry) => window.inServiceWorker(entry), entry);
}

test('a module service worker has all of hedgerow/full', async ({ persistentPage }) => {
  expect(await inServiceWorker(persistentPage.page, 'full')).toEqual({
    ...RIGHT,
    ...Object.fromEntries(
      [
        ...['branch', 'reset', 'stats', 'verify', 'merge', 'prove', 'sums', 'collect'],
        ...['export', 'preload'],
      ].map((call) => [call, 'right']),
    ),
  });
});

test('a service worker without hedgerow/full learns that it needs it', async ({
  persistentPage,
}) => {
  const found = await inServiceWorker(persistentPage.page, 'plain');
  expect(found).toMatch(/not-loaded.*hedgerow\/full/);
});
