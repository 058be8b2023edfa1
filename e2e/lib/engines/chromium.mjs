// Chromium over the DevTools protocol: Playwright only speaks to it.

import { mkdir } from 'node:fs/promises';
import { chromium as playwright } from '@playwright/test';
import { findBrowser } from '../../../scripts/lib/browser.mjs';
import { ask } from '../../../scripts/lib/run.mjs';
import { within } from './limits.mjs';
import { ProcessGroup } from './process.mjs';
import { COLLECT_ERRORS, resultOf, sourceOf } from './script.mjs';

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
const CRASH_MS = 60_000;

const pathOf = () => findBrowser() ?? playwright.executablePath();

export const chromium = {
  name: 'chromium',
  /** Path and version of the browser, or `undefined`. */
  find() {
    const path = findBrowser();
    return path && { path, version: ask(path, ['--version']) };
  },

  /**
   * Starts Chromium on a profile; `quotaBytes` is the limit of each origin that a page visits. With
   * `isPrivate` its pages are those of an incognito window.
   */
  async launch(profileDir, { quotaBytes, isPrivate = false } = {}) {
    await mkdir(profileDir, { recursive: true });
    const args = [...FLAGS, `--user-data-dir=${profileDir}`, 'about:blank'];
    const group = new ProcessGroup('Chromium', pathOf(), args);
    try {
      const [, endpoint] = await group.said(/DevTools listening on (ws:\S+)/);
      const connecting = playwright.connectOverCDP(endpoint, { noDefaults: true });
      const connection = await within(START_MS, 'Chromium', connecting);
      const context = isPrivate ? await connection.newContext() : connection.contexts()[0];
      return new Chromium(group, connection, context, quotaBytes);
    } catch (cause) {
      await group.kill();
      throw cause;
    }
  },
};

class Chromium {
  name = 'chromium';
  version;
  #group;
  #connection;
  #context;
  #quotaBytes;

  constructor(group, connection, context, quotaBytes) {
    this.#group = group;
    this.#connection = connection;
    this.#context = context;
    this.#quotaBytes = quotaBytes;
    this.version = `Chromium ${connection.version()}`;
  }

  get pid() {
    return this.#group.pid;
  }

  async newPage() {
    const page = await this.#context.newPage();
    const session = await this.#context.newCDPSession(page);
    const made = new ChromiumPage(page, session, this.#quotaBytes);
    await made.prepare();
    return made;
  }

  /** Has it end by its own command: it then waits for what its databases have under way. */
  async close() {
    const session = await this.#connection.newBrowserCDPSession();
    await session.send('Browser.close').catch(() => {});
    await this.#group.ended();
    await this.#connection.close().catch(() => {});
  }

  async kill() {
    await this.#group.kill();
    await this.#connection.close().catch(() => {});
  }
}

class ChromiumPage {
  /** Called with what the page gives to `report(text)`. */
  onReport = () => {};
  #page;
  #session;
  #quotaBytes;

  constructor(page, session, quotaBytes) {
    this.#page = page;
    this.#session = session;
    this.#quotaBytes = quotaBytes;
  }

  async prepare() {
    this.#session.on('Runtime.bindingCalled', ({ payload }) => this.onReport(payload));
    await this.#session.send('Runtime.enable');
    await this.#session.send('Runtime.addBinding', { name: 'report' });
    await this.#page.addInitScript(COLLECT_ERRORS);
  }

  async goto(url) {
    // Before the first write: Chromium remembers for a while how much room it saw.
    if (this.#quotaBytes !== undefined) await this.limit(url, this.#quotaBytes);
    await this.#page.goto(url);
  }

  /** Limits the origin of `url` to `quotaSize` bytes; lifts the limit without one. */
  async limit(url, quotaSize) {
    const { origin } = new URL(url);
    await this.#session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize });
  }

  /** Crashes its process; resolves when that has happened. */
  async crash() {
    const crashed = this.#page.waitForEvent('crash', { timeout: CRASH_MS });
    // It never answers.
    this.#session.send('Page.crash').catch(() => {});
    await crashed;
  }

  async evaluate(fn, ...args) {
    return resultOf(await this.#page.evaluate(sourceOf(fn, args)));
  }

  uncaught() {
    return this.evaluate('() => globalThis.__uncaught ?? []');
  }

  close() {
    return this.#page.close();
  }
}
