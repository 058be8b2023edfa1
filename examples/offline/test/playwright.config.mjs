import { defineConfig } from '@playwright/test';
import e2e from '../../../e2e/playwright.config.js';

// Without options, Playwright would start a browser of its own.
const { launchOptions } = e2e.projects.find(({ name }) => name === 'untimed').use;
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
