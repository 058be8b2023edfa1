import { defineConfig } from '@playwright/test';
import { launchOptions } from '../../e2e/playwright.config.js';

const CACHE = '../../.cache/test';

/** In the browser of the other tests. */
export default defineConfig({
  testDir: '.',
  outputDir: `${CACHE}/site`,
  globalSetup: './serve.mjs',
  timeout: process.env.SITE_PAGES === 'all' ? 1_800_000 : 120_000,
  expect: { timeout: 20_000 },
  workers: 1,
  forbidOnly: true,
  reporter: [['list'], ['json', { outputFile: `${CACHE}/playwright-site.json` }]],
  use: { launchOptions },
});
