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

// All that other engines can run, or what is tagged as the core of it.
const OTHERS = process.env.E2E_ENGINES === 'all' ? /./ : /@core/;

export default defineConfig<EngineOption>({
  testDir: 'tests',
  outputDir: '../.cache/test/playwright',
  // One at a time: the tests measure time, and the machine may have two cores.
  workers: 1,
  fullyParallel: false,
  retries: 0,
  // A machine that is busy with other things must not fail a test.
  timeout: 120_000,
  forbidOnly: true,
  reporter: [['list'], ['json', { outputFile: '../.cache/test/playwright.json' }]],
  use: {
    baseURL,
    launchOptions: { args, ...(executablePath ? { executablePath } : {}) },
  },
  projects: [
    { name: 'chromium' },
    { name: 'firefox', use: { engine: 'firefox' }, grep: OTHERS, grepInvert: /@chromium/ },
    { name: 'webkit', use: { engine: 'webkit' }, grep: OTHERS, grepInvert: /@chromium/ },
  ],
  webServer: {
    // Built rather than served from source: a development server may reload the page.
    command: `vite build && vite preview --host 127.0.0.1 --port ${port} --strictPort`,
    url: baseURL,
    reuseExistingServer: false,
  },
});
