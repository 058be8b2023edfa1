import { defineConfig } from '@playwright/test';
import { launchOptions } from '../../../e2e/playwright.config.js';

const CACHE = '../../../.cache/test';

/** In the browser of the other tests. */
export default defineConfig({
  testDir: '.',
  outputDir: `${CACHE}/frameworks`,
  globalSetup: './serve.ts',
  timeout: 120_000,
  expect: { timeout: 20_000 },
  forbidOnly: true,
  reporter: [['list'], ['json', { outputFile: `${CACHE}/playwright-frameworks.json` }]],
  use: { launchOptions },
});
