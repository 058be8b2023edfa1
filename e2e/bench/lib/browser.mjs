// Serves a production build of the page and opens it on a fresh on-disk profile: Playwright opens Chromium, whose
// protocol can also profile, trace and measure memory; `e2e/lib/engines` opens the other engines.

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { refuseDevBuild } from '../../../scripts/lib/dev-build.mjs';
import { servePage } from '../../../scripts/lib/serve.mjs';
import { ENGINES, isChromium } from '../../lib/engines/index.mjs';
import { within } from '../../lib/engines/limits.mjs';
import { EnginePage } from './engine-page.mjs';
import { launchChromium } from './launch-chromium.mjs';
import { CALL_MS, originOf, storedMiB } from './page.mjs';
import { processMemory } from './process-memory.mjs';
import { SyncLab } from './sync/lab.mjs';

const CONFIG = fileURLToPath(new URL('../vite.config.ts', import.meta.url));
const CACHE = fileURLToPath(new URL('../../../.cache/', import.meta.url));
// In the repository, since a system's temporary folder may be in memory.
const PROFILES = join(CACHE, 'profiles');

/**
 * Runs `work` with a browser, and closes the browser in the end. For another page than the benchmarks, `config` is its
 * Vite configuration and `global` the variable with its functions.
 */
export async function withBrowser(
  { engine = 'chromium', profile = false, config = CONFIG, global = 'bench' },
  work,
) {
  refuseDevBuild();
  const ends = [];
  try {
    const port = await serve(config, profile, ends);
    await mkdir(PROFILES, { recursive: true });
    const profileDir = await mkdtemp(join(PROFILES, 'bench-'));
    ends.push(() => rm(profileDir, { recursive: true, force: true, maxRetries: 5 }));
    const place = { port, profileDir, global };
    const browser = isChromium(engine)
      ? await inChromium(engine, place, profile, ends)
      : await inEngine(engine, place, ends);
    await browser.visit('bench');
    return await work(browser);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function inChromium(name, place, isProfiled, ends) {
  const { context, page, session, close } = await launchChromium(ENGINES[name], place.profileDir);
  ends.push(close);
  const browser = new BenchPage({ engine: name, context, page, session, ...place });
  if (isProfiled) await page.exposeFunction('profiler', (start) => browser.onTimed?.(start));
  await page.exposeFunction('processMemory', (action) => processMemory(context, action));
  const lab = new SyncLab();
  ends.push(() => lab.close());
  await page.exposeFunction('syncLab', (name, ...args) => lab.call(name, ...args));
  return browser;
}

async function inEngine(name, place, ends) {
  const running = await ENGINES[name].launch(place.profileDir);
  ends.push(() => running.close());
  return new EnginePage({ running, page: await running.newPage(), ...place });
}

async function serve(configFile, profile, ends) {
  const outDir = join(CACHE, 'bench', String(process.pid));
  process.env.BENCH_OUT_DIR = outDir;
  if (profile) process.env.BENCH_PROFILE = '1';
  ends.push(() => rm(outDir, { recursive: true, force: true }));
  const server = await servePage({ configFile });
  ends.push(server.close);
  return server.port;
}

/** The page of the benchmarks in Chromium. */
class BenchPage {
  engine;
  /** Called with `true` before and with `false` after a stretch that the page times. */
  onTimed;
  #port;
  #global;
  #origin;
  #session;
  #problem;

  constructor({ engine, context, page, session, port, profileDir, global }) {
    this.engine = engine;
    this.context = context;
    this.page = page;
    this.profileDir = profileDir;
    this.#session = session;
    this.#port = port;
    this.#global = global;
    page.on('pageerror', (error) => {
      this.#problem ??= error;
    });
    page.on('crash', () => {
      this.#problem ??= new Error('the page crashed');
    });
  }

  /**
   * Loads the page again, without the compiled code and memory of earlier runs. Each name is an origin, with its own
   * databases and files.
   */
  async visit(name) {
    this.#problem = undefined;
    this.#origin = originOf(name, this.#port);
    await this.page.goto(this.#origin);
    await this.page.waitForFunction((name) => globalThis[name] !== undefined, this.#global);
  }

  /** Calls a function of the page, such as one of `page/main.ts`; fails without an answer for minutes. */
  async call(name, ...args) {
    const answer = this.page.evaluate(
      ([global, name, args]) => globalThis[global][name](...args),
      [this.#global, name, args],
    );
    const result = await within(CALL_MS, `${this.#global}.${name}`, answer);
    if (this.#problem !== undefined) throw this.#problem;
    return result;
  }

  /** Ends the page, with its workers, and deletes all data of its origin. */
  async clear() {
    await this.page.goto('about:blank');
    await this.#session.send('Storage.clearDataForOrigin', {
      origin: this.#origin,
      storageTypes: 'indexeddb,file_systems,cache_storage,local_storage,service_workers',
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
  }

  /** Measures the files with the data of pages, in MiB. */
  storedMiB() {
    return storedMiB(this.profileDir);
  }

  async product() {
    return (await this.#session.send('Browser.getVersion')).product;
  }
}
