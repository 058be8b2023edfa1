// Serves a production build of the page and opens it in Chromium on a fresh on-disk profile.

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { build, preview } from 'vite';
import { findBrowser } from '../../../scripts/lib/browser.mjs';

const CONFIG = fileURLToPath(new URL('../vite.config.ts', import.meta.url));
const CACHE = fileURLToPath(new URL('../../../.cache/', import.meta.url));
// In the repository, since a system's temporary folder may lie in memory.
const PROFILES = join(CACHE, 'profiles');

// Those of `e2e/playwright.config.ts`, and a call that collects garbage before a clock starts.
const FLAGS = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--js-flags=--expose-gc',
];

/**
 * Runs `work` with a browser, which it takes down in the end. Of another page than that of the
 * benchmarks, `config` is its Vite configuration and `global` where its functions are; `launch`
 * are further options of Playwright.
 */
export async function withBrowser(
  { profile, config = CONFIG, global = 'bench', launch = {} },
  work,
) {
  const ends = [];
  try {
    const url = await serve(config, profile, ends);
    await mkdir(PROFILES, { recursive: true });
    const profileDir = await mkdtemp(join(PROFILES, 'bench-'));
    ends.push(() => rm(profileDir, { recursive: true, force: true, maxRetries: 5 }));
    const executablePath = findBrowser();
    const context = await chromium.launchPersistentContext(profileDir, {
      args: FLAGS,
      ...launch,
      ...(executablePath === undefined ? {} : { executablePath }),
    });
    ends.push(() => context.close());
    const page = context.pages()[0] ?? (await context.newPage());
    const browser = new BenchPage(context, page, url, profileDir, global);
    if (profile) await page.exposeFunction('profiler', (start) => browser.onTimed?.(start));
    await browser.reload();
    return await work(browser);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function serve(configFile, profile, ends) {
  const outDir = join(CACHE, 'bench', String(process.pid));
  process.env.BENCH_OUT_DIR = outDir;
  if (profile) process.env.BENCH_PROFILE = '1';
  ends.push(() => rm(outDir, { recursive: true, force: true }));
  await build({ configFile });
  const port = 20_000 + (process.pid % 10_000);
  const server = await preview({ configFile, preview: { host: '127.0.0.1', port } });
  ends.push(() => server.close());
  return server.resolvedUrls.local[0];
}

/** The page of the benchmarks. */
class BenchPage {
  /** Called with `true` before and with `false` after a stretch that the page times. */
  onTimed;
  #url;
  #global;
  #problem;

  constructor(context, page, url, profileDir, global) {
    this.context = context;
    this.page = page;
    this.profileDir = profileDir;
    this.#url = url;
    this.#global = global;
    page.on('pageerror', (error) => {
      this.#problem ??= error;
    });
    page.on('crash', () => {
      this.#problem ??= new Error('the page crashed');
    });
  }

  /** Loads the page anew: compiled code and memory of what ran before are gone. */
  async reload() {
    await this.page.goto(this.#url);
    await this.page.waitForFunction((name) => globalThis[name] !== undefined, this.#global);
  }

  /** Calls a function of the page, such as those of `page/main.ts`. */
  async call(name, ...args) {
    const result = await this.page.evaluate(
      ([global, name, args]) => globalThis[global][name](...args),
      [this.#global, name, args],
    );
    if (this.#problem !== undefined) throw this.#problem;
    return result;
  }
}
