// Wraps a page of any engine in the calls of Playwright's `Page` that the specs use, so that one spec runs in all
// engines. Arguments and results are of the kinds that `script.mjs` can write.

import { pause } from './limits.mjs';

const POLL_MS = 20;
const WAIT_MS = 60_000;

/** The pages of one running browser, like Playwright's `BrowserContext`. */
export class TabContext {
  #browser;
  #baseURL;
  #tabs = new Set();
  /** The browser was closed. */
  isOver = false;

  constructor(browser, baseURL) {
    this.#browser = browser;
    this.#baseURL = baseURL;
  }

  /** The engine. */
  get name() {
    return this.#browser.name;
  }

  /** Its first process. */
  get pid() {
    return this.#browser.pid;
  }

  async newPage() {
    const tab = new Tab(await this.#browser.newPage(), this, this.#baseURL);
    this.#tabs.add(tab);
    return tab;
  }

  pages() {
    return [...this.#tabs].filter((tab) => !tab.isClosed());
  }

  close() {
    this.isOver = true;
    return this.#browser.close();
  }
}

export class Tab {
  #page;
  #context;
  #baseURL;
  #url = 'about:blank';
  #isClosed = false;
  #exposed = new Map();

  constructor(page, context, baseURL) {
    this.#page = page;
    this.#context = context;
    this.#baseURL = baseURL;
    page.onReport = (text) => this.#called(text);
  }

  context() {
    return this.#context;
  }

  url() {
    return this.#url;
  }

  isClosed() {
    return this.#isClosed;
  }

  async goto(path) {
    this.#url = new URL(path, this.#baseURL).href;
    await this.#page.goto(this.#url);
    for (const name of this.#exposed.keys()) await this.#expose(name);
  }

  /** Reloads its page. */
  reload() {
    return this.goto(this.#url);
  }

  evaluate(fn, arg) {
    return this.#page.evaluate(fn, arg);
  }

  /** Waits until `fn` returns a true value. */
  async waitForFunction(fn, arg, { timeout = WAIT_MS } = {}) {
    for (const endMs = Date.now() + timeout; ; await pause(POLL_MS)) {
      const value = await this.#page.evaluate(fn, arg);
      if (value) return value;
      if (Date.now() > endMs) throw new Error(`not true within ${timeout} ms: ${fn}`);
    }
  }

  /** Makes `window[name]` call `fn` here and return its result. */
  async exposeFunction(name, fn) {
    this.#exposed.set(name, fn);
    await this.#expose(name);
  }

  /** Returns the uncaught errors; an empty list once it is closed. */
  async uncaught() {
    return this.#isClosed || this.#context.isOver ? [] : this.#page.uncaught();
  }

  async close() {
    this.#isClosed = true;
    await this.#page.close();
  }

  #expose(name) {
    return this.#page.evaluate((name) => {
      globalThis.__answers ??= new Map();
      globalThis[name] = (...args) =>
        new Promise((resolve) => {
          const id = Math.random();
          globalThis.__answers.set(id, resolve);
          globalThis.report(JSON.stringify({ id, name, args }));
        });
    }, name);
  }

  async #called(text) {
    const { id, name, args } = JSON.parse(text);
    const value = await this.#exposed.get(name)(...args);
    const answer = ([id, value]) => {
      globalThis.__answers.get(id)?.(value);
      globalThis.__answers.delete(id);
    };
    // Its process may have ended by now.
    await this.#page.evaluate(answer, [id, value]).catch(() => {});
  }
}
