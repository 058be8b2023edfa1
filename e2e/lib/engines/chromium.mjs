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

const pathOf = () => findBrowser() ?? playwright.executablePath();

export const chromium = {
  name: 'chromium',
  /** Path and version of the browser, or `undefined`. */
  find() {
    const path = findBrowser();
    return path && { path, version: ask(path, ['--version']) };
  },

  /** Starts Chromium on a profile; `quotaBytes` is the limit of each origin that a page visits. */
  async launch(profileDir, { quotaBytes } = {}) {
    const browser = await Chromium.launch(profileDir);
    return new ChromiumBrowser(browser, quotaBytes);
  },
};

/** A running Chromium with one page open, as Playwright has them. */
export class Chromium {
  #group;

  /** Starts Chromium on a profile. */
  static async launch(profileDir) {
    await mkdir(profileDir, { recursive: true });
    const browser = new Chromium();
    const args = [...FLAGS, `--user-data-dir=${profileDir}`, 'about:blank'];
    browser.#group = new ProcessGroup('Chromium', pathOf(), args);
    try {
      const [, endpoint] = await browser.#group.said(/DevTools listening on (ws:\S+)/);
      const connecting = playwright.connectOverCDP(endpoint, { noDefaults: true });
      browser.connection = await within(START_MS, 'Chromium', connecting);
      browser.context = browser.connection.contexts()[0];
      browser.page = browser.context.pages()[0] ?? (await browser.context.newPage());
      return browser;
    } catch (cause) {
      await browser.kill();
      throw cause;
    }
  }

  get pid() {
    return this.#group.pid;
  }

  /** Sends SIGKILL to all of its processes, in one system call. */
  signal() {
    this.#group.signal();
  }

  /** Kills all of its processes; resolves when none is left. */
  async kill() {
    await this.#group.kill();
    await this.connection?.close().catch(() => {});
  }

  /** Has it end by its own command: it then waits for what its databases have under way. */
  async close() {
    const session = await this.connection.newBrowserCDPSession();
    await session.send('Browser.close').catch(() => {});
    await this.#group.ended();
    await this.connection.close().catch(() => {});
  }
}

class ChromiumBrowser {
  name = 'chromium';
  version;
  #browser;
  #quotaBytes;

  constructor(browser, quotaBytes) {
    this.#browser = browser;
    this.#quotaBytes = quotaBytes;
    this.version = `Chromium ${browser.connection.version()}`;
  }

  get pid() {
    return this.#browser.pid;
  }

  async newPage() {
    const page = await this.#browser.context.newPage();
    const session = await this.#browser.context.newCDPSession(page);
    const made = new ChromiumPage(page, session, this.#quotaBytes);
    await made.prepare();
    return made;
  }

  close() {
    return this.#browser.close();
  }

  kill() {
    return this.#browser.kill();
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
    if (this.#quotaBytes !== undefined) {
      // Before the first write: Chromium remembers for a while how much room it saw.
      const { origin } = new URL(url);
      const quotaSize = this.#quotaBytes;
      await this.#session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize });
    }
    await this.#page.goto(url);
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
