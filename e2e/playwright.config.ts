import { defineConfig } from '@playwright/test';
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

// What measures time, or says how long something may take.
const TIMED = [
  'alive',
  'alive-hidden',
  'back-forward-cache',
  'frames',
  'lines',
  'sum-proof',
  'tabs',
  'transfer',
  'watch',
].map((name) => `${name}.spec.ts`);

// What Firefox and WebKitGTK run: loads, reloads, reads, indexes, tabs, watches, branches, proofs, sums, exports,
// faults, and the contract of storage.
const CORE = [
  'back-again',
  'blobs',
  'cleared',
  'encryption',
  'endings',
  'health',
  'import',
  'indexes',
  'inspector-engines',
  'integrity',
  'joined',
  'kills',
  'kills-sync',
  'lazy',
  'lines',
  'private',
  'processes',
  'proof',
  'rest',
  'segment-store',
  'segment-store-connections',
  'segment-store-records',
  'signed',
  'smoke',
  'store',
  'store-faults',
  'sums',
  'sync-encrypted',
  'tables',
  'tabs',
  'transfer',
  'watch',
  'worker',
  'worker-store',
].map((name) => `${name}.spec.ts`);
// These drive browsers of their own.
const OWN_BROWSERS = ['alive-hidden', 'frozen', 'frozen-sync', 'full', 'torture'].map(
  (name) => `${name}.spec.ts`,
);
// Chromium has its own protocol for this.
const NOT_CHROMIUM = ['processes.spec.ts'];
// With E2E_ENGINES=all they run all tests but those that need Chromium's own protocol.
const IS_ALL = process.env.E2E_ENGINES === 'all';
const other = (engine: 'firefox' | 'webkit', ...foreign: string[]) => ({
  name: engine,
  use: { engine },
  workers: 2,
  ...(IS_ALL ? { testIgnore: OWN_BROWSERS } : { testMatch: CORE }),
  grepInvert: new RegExp([...foreign, ...(IS_ALL ? [] : ['@timed'])].join('|')),
});

export default defineConfig<EngineOption>({
  testDir: 'tests',
  outputDir: '../.cache/test/playwright',
  projects: [
    { name: 'untimed', testIgnore: [...TIMED, ...NOT_CHROMIUM], workers: 2 },
    // One at a time. When all run, after the others, as `npm test` has it.
    { name: 'timed', testMatch: TIMED, workers: 1, dependencies: ['untimed'] },
    other('firefox', '@chromium', '@webkit'),
    other('webkit', '@chromium'),
  ],
  workers: 2,
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
  use: {
    baseURL,
    launchOptions: { args, ...(executablePath ? { executablePath } : {}) },
  },
  webServer: {
    // Built rather than served from source: a development server may reload the page.
    command: `vite build && vite preview --host 127.0.0.1 --port ${port} --strictPort`,
    url: baseURL,
    reuseExistingServer: false,
  },
});
