import { availableParallelism } from 'node:os';
import { defineConfig } from '@playwright/test';
import { ENGINES, QUIET_FLAGS } from './lib/engines/index.mjs';
import type { EngineOption } from './tests/fixtures.js';

// `npm test` names the browser; without a name, Playwright's own is used.
const executablePath = process.env.CHROMIUM_PATH;
// Each run has its own port, so that two runs on one machine do not meet. The environment passes it on because
// Playwright reads this file again in each of its processes.
process.env.E2E_PORT ??= String(20_000 + (process.pid % 10_000));
const port = Number(process.env.E2E_PORT);
const baseURL = `http://127.0.0.1:${port}/`;

// Only a collection shows what happens to unreferenced objects.
const args = [...QUIET_FLAGS, '--js-flags=--expose-gc'];

// Selects tests by their tags: `@core` ones run in `npm test`, `@timed` ones measure time, `@chromium` ones need its
// own protocol, `@webkit` ones its processes.
const without = (...tags: string[]) => new RegExp(tags.join('|'));
// The first runs in Firefox and WebKitGTK only, since Chromium has its own protocol for it; the second in
// `chromium-sqlite` only.
const NOT_CHROMIUM = 'processes.spec.ts';
const NOT_LEVELDB = 'sqlite.spec.ts';
// The results of these do not depend on the library that keeps IndexedDB.
const NOT_STORAGE = [
  'arguments',
  'inspector',
  'inspector-looks',
  'slim',
  'start-up',
  'sum-proof',
].map((name) => `${name}.spec.ts`);

/** Returns the options that start Chromium as the engine of this name. */
const chromium = (engine: 'chromium' | 'chromium-sqlite') => ({
  engine,
  launchOptions: {
    args: [...args, ...ENGINES[engine].args],
    ...(executablePath ? { executablePath } : {}),
  },
});

/** The options that start Chromium for the tests of the examples and of the site. */
export const { launchOptions } = chromium('chromium');

export default defineConfig<EngineOption>({
  testDir: 'tests',
  outputDir: '../.cache/test/playwright',
  projects: [
    {
      name: 'core',
      use: chromium('chromium'),
      testIgnore: [NOT_CHROMIUM, NOT_LEVELDB],
      grep: /@core/,
      grepInvert: without('@timed'),
    },
    {
      name: 'untimed',
      use: chromium('chromium'),
      testIgnore: [NOT_CHROMIUM, NOT_LEVELDB],
      grepInvert: without('@timed'),
    },
    // One test at a time.
    { name: 'timed', use: chromium('chromium'), grep: /@timed/, workers: 1 },
    {
      name: 'chromium-sqlite',
      use: chromium('chromium-sqlite'),
      testIgnore: [NOT_CHROMIUM, ...NOT_STORAGE],
      grepInvert: without('@timed'),
    },
    {
      name: 'firefox',
      use: { engine: 'firefox' },
      grepInvert: without('@timed', '@chromium', '@webkit'),
    },
    { name: 'webkit', use: { engine: 'webkit' }, grepInvert: without('@timed', '@chromium') },
  ],
  // Half of the cores: a browser has more processes than the one that runs a page.
  workers: Math.max(2, Math.floor(availableParallelism() / 2)),
  fullyParallel: false,
  retries: 0,
  // A busy machine must not fail a test.
  timeout: 120_000,
  expect: { timeout: 20_000 },
  forbidOnly: true,
  reporter: [
    ['list'],
    ['json', { outputFile: `../.cache/test/${process.env.E2E_REPORT ?? 'playwright.json'}` }],
  ],
  use: { baseURL },
  webServer: {
    // Built rather than served from source: a development server may reload the page.
    command: `vite build && vite preview --host 127.0.0.1 --port ${port} --strictPort`,
    url: baseURL,
    reuseExistingServer: false,
  },
});
