// Runs Vitest's browser mode in the engines of `e2e/lib/engines`: each instance of the configuration is one engine,
// on a new profile on disk.

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineBrowserProvider } from '@vitest/browser';
import { ENGINES } from '../../../../e2e/lib/engines/index.mjs';

// In the repository: a system's temporary folder may lie in memory.
const PROFILES_DIR = fileURLToPath(new URL('../../../../.cache/profiles', import.meta.url));

/** The provider for `browser.provider`. */
export function engines() {
  return defineBrowserProvider({
    name: 'engines',
    supportedBrowser: Object.keys(ENGINES),
    providerFactory: (project) => new EngineProvider(project.config.browser.name),
  });
}

class EngineProvider {
  name = 'engines';
  supportsParallelism = false;
  #engine;
  #profileDir;
  #browser;
  #pages = new Map();

  constructor(name) {
    this.#engine = ENGINES[name];
  }

  getCommandsContext() {
    return {};
  }

  async openPage(sessionId, url) {
    this.#browser ??= this.#launch();
    const browser = await this.#browser;
    await this.#pages.get(sessionId)?.close();
    const page = await browser.newPage();
    this.#pages.set(sessionId, page);
    await page.goto(url);
  }

  async close() {
    if (this.#browser === undefined) return;
    // Its data are not needed any more.
    await (await this.#browser).kill();
    await rm(this.#profileDir, { recursive: true, force: true, maxRetries: 5 });
  }

  async #launch() {
    await mkdir(PROFILES_DIR, { recursive: true });
    this.#profileDir = await mkdtemp(join(PROFILES_DIR, 'units-'));
    return this.#engine.launch(this.#profileDir);
  }
}
