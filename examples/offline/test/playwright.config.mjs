import { defineConfig } from '@playwright/test';
import { launchOptions } from '../../../e2e/playwright.config.js';

const CACHE = '../../../.cache/test';

/** In the browser of the other tests. The app starts by itself. */
export default defineConfig({
  testDir: '.',
  outputDir: `${CACHE}/offline`,
  timeout: 60_000,
  expect: { timeout: 20_000 },
  forbidOnly: true,
  reporter: [['list'], ['json', { outputFile: `${CACHE}/playwright-offline.json` }]],
  use: { launchOptions },
});
