// Chromium in a process group of its own, so that all of its processes can be killed at once, as
// when a machine kills them. Playwright only speaks to it.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { findBrowser } from '../../../scripts/lib/browser.mjs';
import { pause, within } from './limits.mjs';

// In the repository, since a system's temporary folder may lie in memory.
const PROFILES = fileURLToPath(new URL('../../../.cache/profiles', import.meta.url));
const FLAGS = [
  '--headless=new',
  '--remote-debugging-port=0',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];
const START_MS = 30_000;
const END_MS = 20_000;

/** The browsers that run now: none may outlive this process. */
const running = new Set();
process.once('exit', () => {
  for (const browser of running) browser.signal();
});

/** A running Chromium with one page open. */
export class Chromium {
  #child;
  #exited;

  /** Starts Chromium on a profile. */
  static async launch(profileDir) {
    const path = findBrowser() ?? chromium.executablePath();
    const child = spawn(path, [...FLAGS, `--user-data-dir=${profileDir}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: process.platform !== 'win32',
    });
    const browser = new Chromium();
    browser.#child = child;
    browser.#exited = once(child, 'exit');
    running.add(browser);
    try {
      const endpoint = await within(START_MS, 'the start of Chromium', endpointOf(child));
      const connecting = chromium.connectOverCDP(endpoint, { noDefaults: true });
      browser.connection = await within(START_MS, 'Chromium', connecting);
      browser.context = browser.connection.contexts()[0];
      browser.page = browser.context.pages()[0] ?? (await browser.context.newPage());
      return browser;
    } catch (cause) {
      await browser.kill();
      throw cause;
    }
  }

  /** Sends SIGKILL to all of its processes, in one system call. */
  signal() {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      if (process.platform === 'win32') spawnSync('taskkill', ['/pid', String(pid), '/t', '/f']);
      else process.kill(-pid, 'SIGKILL');
    } catch {
      // It is gone already.
    }
  }

  /** Kills all of its processes; resolves when none is left. */
  async kill() {
    this.signal();
    await within(END_MS, 'the death of Chromium', this.#exited);
    await this.#gone();
  }

  /** Has it end by its own command: it then waits for what its databases have under way. */
  async close() {
    const session = await this.connection.newBrowserCDPSession();
    await session.send('Browser.close').catch(() => {});
    try {
      await within(END_MS, 'the end of Chromium', this.#exited);
    } catch (cause) {
      await this.kill();
      throw cause;
    }
    await this.#gone();
  }

  async #gone() {
    const { pid } = this.#child;
    for (let waited = 0; waited < END_MS && isGroupAlive(pid); waited += 10) await pause(10);
    running.delete(this);
    await this.connection?.close().catch(() => {});
  }
}

/** Whether a process of the group is left; those that are dead and not yet reaped do not count. */
function isGroupAlive(pid) {
  if (process.platform === 'win32') return false;
  try {
    process.kill(-pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  const { stdout, status } = spawnSync('ps', ['-o', 'stat=', '-g', String(pid)], {
    encoding: 'utf8',
  });
  return status === 0 && stdout.split('\n').some((line) => /^[^Z\s]/.test(line.trim()));
}

/** Where Chromium listens, which it says on stderr. */
async function endpointOf(child) {
  const lines = createInterface({ input: child.stderr });
  child.once('exit', () => lines.close());
  const said = [];
  for await (const line of lines) {
    const found = /DevTools listening on (ws:\S+)/.exec(line);
    if (found !== null) {
      // Chromium stops when nobody reads what it writes.
      child.stderr.resume();
      return found[1];
    }
    said.push(line);
  }
  throw new Error(`Chromium did not start: ${said.join('\n')}`);
}

/**
 * On-disk profiles: copies of one that a first start has made, which is most of what a start on
 * an empty one costs. `end` removes them all.
 */
export async function makeProfiles() {
  await mkdir(PROFILES, { recursive: true });
  const folder = await mkdtemp(join(PROFILES, 'torture-'));
  const first = join(folder, 'first');
  const browser = await Chromium.launch(first);
  await browser.close();
  let made = 0;
  return {
    async make() {
      const profileDir = join(folder, String(++made));
      await cp(first, profileDir, { recursive: true, verbatimSymlinks: true });
      return profileDir;
    },
    remove: (profileDir) => rm(profileDir, { recursive: true, force: true, maxRetries: 5 }),
    end: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
