/** A load goes on in a hidden page, where timers come once in a second and frames never. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test as base, expect, type Page } from '@playwright/test';
import { covered, withPlainBrowser } from '../alive/lib/plain-browser.mjs';
import type { Load } from '../alive/page/loads.js';

const PROFILES_DIR = fileURLToPath(new URL('../../.cache/profiles', import.meta.url));

const ROUNDS = 2;
const ROWS = 50_000;

/** The page in a browser that hides what is covered, as Playwright's own do not. */
const test = base.extend<{ plainPage: Page }>({
  plainPage: async ({ baseURL, launchOptions: { executablePath } }, use) => {
    await mkdir(PROFILES_DIR, { recursive: true });
    const profileDir = await mkdtemp(join(PROFILES_DIR, 'plain-'));
    try {
      await withPlainBrowser({ profileDir, executablePath }, async (page) => {
        await page.goto(`${baseURL}alive.html`);
        await page.waitForFunction(() => globalThis.alive !== undefined);
        await use(page);
      });
    } finally {
      await rm(profileDir, { recursive: true, force: true, maxRetries: 5 });
    }
  },
});

test('a load goes on in a hidden page', async ({ plainPage: page }) => {
  const look = () => page.evaluate(() => globalThis.alive.visibility(1000));
  /** The best of a few: what else the machine does comes and goes. */
  const best = async (load: Load) => {
    const all: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      all.push(await page.evaluate((load) => globalThis.alive.time(load), load));
    }
    return Math.min(...all);
  };
  const visibleMs = await best({ rows: ROWS });
  const [seen, hiddenMs, unslicedMs] = await covered(page, async () => [
    await look(),
    await best({ rows: ROWS }),
    await best({ rows: ROWS, sliceMs: 1e9 }),
  ]);
  console.log(`  ${JSON.stringify({ ...seen, visibleMs, hiddenMs, unslicedMs })}`);
  // Hidden in truth: about 100 timers and 60 frames would be due in this time.
  expect(seen.state).toBe('hidden');
  expect(seen.frames).toBe(0);
  expect(seen.timers).toBeLessThan(10);
  // A hidden page may get less of a busy machine than a visible one, so slices are compared
  // with one piece of the same work there. With timers between them this would not end in time.
  expect(hiddenMs).toBeLessThan(2 * unslicedMs);
  expect(hiddenMs).toBeLessThan(4 * visibleMs);
});
