// Runs Chromium over the DevTools protocol: Playwright only speaks to it.

import { mkdir } from 'node:fs/promises';
import { chromium as playwright } from '@playwright/test';
import { findBrowser } from '../../../scripts/lib/browser.mjs';
import { ask } from '../../../scripts/lib/run.mjs';
import { refuseOtherBackend } from './backend.mjs';
import { within } from './limits.mjs';
import { ProcessGroup } from './process.mjs';
import { COLLECT_ERRORS, resultOf, sourceOf } from './script.mjs';

/**
 * Flags of every Chromium. Its sandbox refuses to run as root. The others keep Chromium from work of its own, which would
 * disturb measurements and ask for a network.
 */
export const QUIET_FLAGS = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];
const FLAGS = ['--headless=new', '--remote-debugging-port=0', ...QUIET_FLAGS];
const START_MS = 30_000;
const CRASH_MS = 60_000;

/**
 * Features that make Chromium keep IndexedDB in SQLite, as it will by default: in private windows, and on disk even
 * where it would go on with LevelDB.
 */
const SQLITE = ['IdbSqliteBackingStore', 'IdbSqliteOnDiskRollout:stage/UseSqliteOnly'];
/**
 * The features that Playwright enables. A second `--enable-features` replaces the first, so it must name these, too.
 */
const PLAYWRIGHTS = ['CDPScreenshotNewSurface', 'SkipListAccountsWithoutGaiaCookies'];

const pathOf = () => findBrowser() ?? playwright.executablePath();

/** Chromium, with extra features if any; `backend` is the library that must keep IndexedDB. */
class ChromiumEngine {
  browser = 'chromium';
  name;
  backend;
  #features;

  constructor({ name, backend, features = [] }) {
    this.name = name;
    this.backend = backend;
    this.#features = features;
  }

  /** The arguments in addition to Playwright's. */
  get args() {
    const features = [...PLAYWRIGHTS, ...this.#features];
    return this.#features.length === 0 ? [] : [`--enable-features=${features}`];
  }

  /** Returns the path and version of the browser, or `undefined`. */
  find() {
    const path = findBrowser();
    return path && { path, version: this.#told(ask(path, ['--version'])) };
  }

  /**
   * Starts Chromium on a profile; `quotaBytes` is the limit of each origin that a page visits. With `isPrivate` its
   * pages are in an incognito window.
   */
  async launch(profileDir, { quotaBytes, isPrivate = false } = {}) {
    await mkdir(profileDir, { recursive: true });
    await refuseOtherBackend(this, profileDir);
    const args = [...FLAGS, ...this.args, `--user-data-dir=${profileDir}`, 'about:blank'];
    const group = new ProcessGroup('Chromium', pathOf(), args);
    try {
      const [, endpoint] = await group.said(/DevTools listening on (ws:\S+)/);
      const connecting = playwright.connectOverCDP(endpoint, { noDefaults: true });
      const connection = await within(START_MS, 'Chromium', connecting);
      const context = isPrivate ? await connection.newContext() : connection.contexts()[0];
      const version = this.#told(`Chromium ${connection.version()}`);
      const check = () => refuseOtherBackend(this, profileDir);
      const { name } = this;
      return new Chromium({ name, version, group, connection, context, quotaBytes, check });
    } catch (cause) {
      await group.kill();
      throw cause;
    }
  }

  #told(version) {
    return this.backend === undefined ? version : `${version}, ${this.backend}`;
  }
}

export const chromium = new ChromiumEngine({ name: 'chromium' });
export const chromiumSqlite = new ChromiumEngine({
  name: 'chromium-sqlite',
  backend: 'sqlite',
  features: SQLITE,
});

class Chromium {
  name;
  version;
  /** Playwright's own. */
  context;
  #group;
  #connection;
  #quotaBytes;
  #check;

  constructor({ name, version, group, connection, context, quotaBytes, check }) {
    this.name = name;
    this.version = version;
    this.context = context;
    this.#group = group;
    this.#connection = connection;
    this.#quotaBytes = quotaBytes;
    this.#check = check;
  }

  get pid() {
    return this.#group.pid;
  }

  async newPage() {
    const page = await this.context.newPage();
    const session = await this.context.newCDPSession(page);
    const made = new ChromiumPage(page, session, this.#quotaBytes);
    await made.prepare();
    return made;
  }

  /** Ends the browser by its own command, so that it waits for pending work of its databases. */
  async close() {
    const session = await this.#connection.newBrowserCDPSession();
    await session.send('Browser.close').catch(() => {});
    await this.#group.ended();
    await this.#connection.close().catch(() => {});
    await this.#check();
  }

  async kill() {
    await this.#group.kill();
    await this.#connection.close().catch(() => {});
    await this.#check();
  }
}

class ChromiumPage {
  /** Called with the text of each `report(text)` in the page. */
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
    // Before the first write: Chromium remembers the available room for a while.
    if (this.#quotaBytes !== undefined) await this.limit(url, this.#quotaBytes);
    await this.#page.goto(url);
  }

  /** Limits the origin of `url` to `quotaSize` bytes; without one, lifts the limit. */
  async limit(url, quotaSize) {
    const { origin } = new URL(url);
    await this.#session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize });
  }

  /** Crashes its process; resolves after the crash. */
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
