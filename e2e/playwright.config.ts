import { availableParallelism } from 'node:os';
import { defineConfig } from '@playwright/test';
import { ENGINES } from './lib/engines/index.mjs';
import type { EngineOption } from './tests/fixtures.js';

// `npm test` names the browser; without a name, Playwright's own is used.
const executablePath = process.env.CHROMIUM_PATH;
// A port for each run, so that two runs on one machine do not meet. It goes through the
// environment because Playwright reads this file again in each of its processes.
process.env.E2E_PORT ??= String(20_000 + (process.pid % 10_000));
const port = Number(process.env.E2E_PORT);
const baseURL = `http://127.0.0.1:${port}/`;

// Chromium's sandbox refuses to run as root. The others keep it from doing work of its
// own, which would disturb what is measured and asks for a network.
const args = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // What happens to things that nobody holds any more can only be seen by collecting them.
  '--js-flags=--expose-gc',
];

// Tests by their tags: `@core` ones run in `npm test`, `@timed` ones measure time, `@chromium` ones need its own protocol,
// `@webkit` ones its processes.
const without = (...tags: string[]) => new RegExp(tags.join('|'));
// Of Firefox and WebKitGTK alone: Chromium has its own protocol for this. And of `chromium-sqlite` alone.
const NOT_CHROMIUM = 'processes.spec.ts';
const NOT_LEVELDB = 'sqlite.spec.ts';
// These have the same answers whatever keeps IndexedDB, or have none.
const NOT_STORAGE = [
  'arguments',
  'inspector',
  'inspector-looks',
  'slim',
  'start-up',
  'sum-proof',
].map((name) => `${name}.spec.ts`);

/** How Playwright starts Chromium as the engine of this name. */
const chromium = (engine: 'chromium' | 'chromium-sqlite') => ({
  engine,
  launchOptions: {
    args: [...args, ...ENGINES[engine].args],
    ...(executablePath ? { executablePath } : {}),
  },
});

/** How the tests of the examples and of the site start Chromium. */
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
    // One at a time.
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
  // Half of the cores: a browser has processes of its own beside the one that runs a page.
  workers: Math.max(2, Math.floor(availableParallelism() / 2)),
  fullyParallel: false,
  retries: 0,
  // A machine that is busy with other things must not fail a test.
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
