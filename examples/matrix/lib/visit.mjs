// Opens pages in Chromium, and waits for their noted results (`app/report.js`).

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBrowser } from '../../../scripts/lib/browser.mjs';
import { CommandFailed } from '../../../scripts/lib/run.mjs';

const TIMEOUT_MS = 90_000;
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage'];

/** Imported late: it exists only once `setup` has run. */
const playwright = () => import('playwright-core');

function executablePath() {
  const path = findBrowser();
  if (path === undefined) throw new CommandFailed('no Chromium: set CHROMIUM_PATH');
  return path;
}

/** Collects a page's console messages and uncaught errors: the reason when no result comes. */
function listen(page) {
  const said = [];
  page.on('console', (message) => {
    if (message.type() === 'error') said.push(message.text());
  });
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('requestfailed', (request) =>
    said.push(`${request.url()}: ${request.failure()?.errorText}`),
  );
  return said;
}

/** Waits for the results of these names, and returns them all. */
async function resultsOf(page, names, said) {
  try {
    await page.waitForFunction(
      (wanted) => wanted.every((name) => globalThis.matrixResults?.[name] !== undefined),
      names,
      { timeout: TIMEOUT_MS },
    );
  } catch (error) {
    const noted = await page.evaluate(() => globalThis.matrixResults).catch(() => undefined);
    throw new Error(
      `no result of ${names}: ${said.slice(0, 4).join(' | ') || error.message} ${JSON.stringify(noted ?? {})}`,
    );
  }
  return page.evaluate(() => globalThis.matrixResults);
}

/** One browser for all pages, each with its own profile. */
export class Visits {
  #browser;

  async #launched() {
    this.#browser ??= (async () => {
      const { chromium } = await playwright();
      return chromium.launch({ executablePath: executablePath(), args: ARGS });
    })();
    return this.#browser;
  }

  /**
   * Opens `url` and returns the results of `names`. `after` may go on with the page and its context, for example with a
   * second visit.
   */
  async results(url, names, { after } = {}) {
    const browser = await this.#launched();
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      const said = listen(page);
      // Development servers send a stream that never ends, so `load` would never come.
      await page.goto(url, { waitUntil: 'commit' });
      const results = await resultsOf(page, names, said);
      return (
        (await after?.({ page, context, results: (wanted) => resultsOf(page, wanted, said) })) ??
        results
      );
    } finally {
      await context.close();
    }
  }

  /** Runs with an extension in its own profile; `use` gets the context. */
  async withExtension(folder, use) {
    const profile = await mkdtemp(join(tmpdir(), 'hedgerow-matrix-'));
    const { chromium } = await playwright();
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: executablePath(),
      // The separate headless build has no extensions.
      headless: false,
      args: [
        ...ARGS,
        '--headless=new',
        `--disable-extensions-except=${folder}`,
        `--load-extension=${folder}`,
      ],
    });
    try {
      return await use(context, async (page, names) => resultsOf(page, names, listen(page)));
    } finally {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    }
  }

  async close() {
    await (await this.#browser)?.close();
  }
}
