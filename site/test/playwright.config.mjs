import { defineConfig } from '@playwright/test';
import e2e from '../../e2e/playwright.config.js';

// Without options, Playwright would start a browser of its own.
const { launchOptions } = e2e.projects.find(({ name }) => name === 'untimed').use;
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
