// The page of the benchmarks in Firefox or WebKitGTK.

import { pause, within } from '../../lib/engines/limits.mjs';
import { CALL_MS, originOf, storedMiB } from './page.mjs';

const POLL_MS = 20;
const START_MS = 30_000;
const SETTLED_MS = 200;

/** Has the calls of `BenchPage` in `browser.mjs`, except the ones over Chromium's protocol. */
export class EnginePage {
  #running;
  #page;
  #port;
  #global;
  #origin;

  constructor({ running, page, port, profileDir, global }) {
    this.engine = running.name;
    this.profileDir = profileDir;
    this.#running = running;
    this.#page = page;
    this.#port = port;
    this.#global = global;
  }

  /** Loads the page again, at another origin for each name. */
  async visit(name) {
    this.#origin = originOf(name, this.#port);
    await this.#load();
  }

  async #load() {
    await this.#goto(this.#origin);
    const isThere = async () => {
      while (!(await this.#page.evaluate((name) => globalThis[name] !== undefined, this.#global))) {
        await pause(POLL_MS);
      }
    };
    await within(START_MS, `the page at ${this.#origin}`, isThere());
  }

  /** Calls a function of the page; fails without an answer for minutes. */
  async call(name, ...args) {
    const called = this.#page.evaluate(
      (global, name, args) => globalThis[global][name](...args),
      this.#global,
      name,
      args,
    );
    const result = await within(CALL_MS, `${this.#global}.${name}`, called);
    const [problem] = await this.#page.uncaught();
    if (problem !== undefined) throw new Error(problem);
    return result;
  }

  /** Ends the page, with its workers, and deletes all data of its origin. */
  async clear() {
    await this.#goto('about:blank');
    await pause(SETTLED_MS);
    await this.#load();
    await this.call('wipe');
    await this.#goto('about:blank');
    await pause(SETTLED_MS);
  }

  storedMiB() {
    return storedMiB(this.profileDir);
  }

  async product() {
    return this.#running.version;
  }

  #goto(url) {
    return within(START_MS, url, this.#page.goto(url));
  }
}
