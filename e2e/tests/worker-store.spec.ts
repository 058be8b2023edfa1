/** A store in a worker: dedicated, shared by two pages, or a service worker. */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { writeExtension } from '../lib/extension.mjs';
import { expect, type Page, test } from './fixtures.js';

const ROWS = 20_000;
/** A busy machine must not fail a test. */
const SLOWLY = { timeout: 60_000 };
const EXPECTED = {
  newest: ['i019998', 'i019996', 'i019994'],
  isKept: true,
  scanned: ROWS,
  isDate: true,
  fractions: true,
  code: 'exists',
  verified: true,
};

async function visit<P extends Page>(page: P): Promise<P> {
  await page.goto('/remote-store.html');
  await page.waitForFunction(() => window.remote !== undefined);
  return page;
}

test('a dedicated worker has the store of a page', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  const found = await page.evaluate(async (rows) => {
    window.remoteDb = await window.remote.dedicated('dedicated');
    return window.remote.scenario(window.remoteDb, rows);
  }, ROWS);
  expect(found).toMatchObject(EXPECTED);
  // Waiting calls and later ones learn of the termination.
  const codes = await page.evaluate(async () => {
    const waiting = window.remoteDb.transaction(() => new Promise(() => {}));
    const first = waiting.catch((error) => error.detail ?? error.code);
    await window.remoteDb.count();
    window.remote.terminate();
    return [
      await first,
      await window.remoteDb.count().catch((error) => error.detail ?? error.code),
    ];
  });
  expect(codes).toEqual(['disconnected', 'disconnected']);
});

test('a worker that cannot be loaded is an error', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  const code = await page.evaluate(async () => {
    const worker = new Worker('/there-is-none.js', { type: 'module' });
    const { connect } = window.remote;
    return connect(worker).then(
      () => 'connected',
      (error) => error.detail ?? error.code,
    );
  });
  expect(code).toBe('disconnected');
});

test('two pages share the store of a shared worker, and a closed one leaves no lock', {
  tag: '@core',
}, async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  const found = await page.evaluate(async (rows) => {
    window.remoteDb = await window.remote.shared('shared');
    return window.remote.scenario(window.remoteDb, rows);
  }, ROWS);
  expect(found).toMatchObject(EXPECTED);
  const other = await visit(await persistentPage.newPage());
  await other.evaluate(async () => {
    window.remoteDb = await window.remote.shared('shared');
    window.remoteTold = [];
    window.remoteDb.issues.watch((changes) => void window.remoteTold.push(...changes));
    // A transaction that never ends must not outlive its page.
    void window.remoteDb.transaction(() => new Promise(() => {})).catch(() => {});
    await window.remoteDb.count();
  });
  await page.evaluate(() => window.remoteDb.issues.update('i000007', { title: 'Of a page' }));
  const told = () => other.evaluate(() => window.remoteTold.length);
  await expect.poll(told, SLOWLY).toBe(1);
  // The worker waits for a lock of each page, and each page waits for the worker's.
  const waits = () =>
    page.evaluate(async () => {
      const { pending = [] } = await navigator.locks.query();
      return pending.filter(({ name }) => name?.startsWith('hedgerow:worker:')).length;
    });
  await expect.poll(waits, SLOWLY).toBe(4);
  await other.close();
  await expect.poll(waits, SLOWLY).toBe(2);
  expect(await page.evaluate(() => window.remoteDb.issues.count())).toBe(ROWS);
});

for (const [type, engines] of [
  // Not every engine has modules there.
  ['module', ' @chromium'],
  ['classic', ''],
] as const) {
  test(`a service worker of a ${type} script has a store and its tables${engines}`, async ({
    persistentPage,
  }) => {
    const page = await visit(persistentPage.page);
    const found = await page.evaluate(
      async ([rows, type]) => {
        window.remoteDb = await window.remote.service(`service-${type}`, type);
        return window.remote.scenario(window.remoteDb, rows);
      },
      [ROWS, type] as const,
    );
    expect(found).toMatchObject(EXPECTED);
  });
}

test('the background of an extension has a store, and its pages connect @chromium', async ({
  launchOptions,
}) => {
  const dir = await mkdtemp(fileURLToPath(new URL('../../.cache/extension-', import.meta.url)));
  const extension = join(dir, 'extension');
  await writeExtension(extension);
  const { args = [], ...options } = launchOptions;
  const context = await chromium.launchPersistentContext(join(dir, 'profile'), {
    ...options,
    // The old headless mode has no extensions.
    headless: false,
    ignoreDefaultArgs: ['--disable-extensions'],
    args: [
      ...args,
      '--headless=new',
      `--disable-extensions-except=${extension}`,
      `--load-extension=${extension}`,
    ],
  });
  try {
    const [running] = context.serviceWorkers();
    const worker = running ?? (await context.waitForEvent('serviceworker'));
    const page = await context.newPage();
    await page.goto(new URL('page.html', worker.url()).href);
    await page.waitForFunction(() => window.inExtension !== undefined);
    const found = await page.evaluate(() => window.inExtension(3000));
    expect(found).toEqual([3000, 'i2998']);
  } finally {
    await context.close();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
});
