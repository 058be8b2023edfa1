// Runs WebKitGTK on a profile on disk, in its own small host (`webkit-host.py`): under WebDriver its storage does not
// outlive the session.

import { mkdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findWebKit } from '../../../scripts/lib/engines.mjs';
import { within } from './limits.mjs';
import { ProcessGroup } from './process.mjs';
import { COLLECT_ERRORS, resultOf, sourceOf } from './script.mjs';
import { display } from './xvfb.mjs';

const HOST = fileURLToPath(new URL('webkit-host.py', import.meta.url));
const START_MS = 30_000;
const PRELOAD = `
  globalThis.report = (text) => webkit.messageHandlers.report.postMessage(text);
  ${COLLECT_ERRORS}
`;
export const webkit = {
  name: 'webkit',
  browser: 'webkit',
  /** Returns the path of its host and its version, or `undefined`. */
  find: findWebKit,

  /**
   * Starts WebKitGTK on a profile; `quotaBytes` is the limit of an origin and of all of them; private windows keep no
   * data.
   */
  async launch(profileDir, { quotaBytes = 0, isPrivate = false } = {}) {
    const found = webkit.find();
    if (found === undefined) throw new Error('there is no WebKitGTK: npm run setup -- --browser');
    await mkdir(profileDir, { recursive: true });
    const env = {
      DISPLAY: await display(),
      GDK_BACKEND: 'x11',
      // A machine without a graphics card.
      WEBKIT_DISABLE_COMPOSITING_MODE: '1',
      LIBGL_ALWAYS_SOFTWARE: '1',
    };
    const session = isPrivate ? 'private' : 'kept';
    const args = [HOST, profileDir, String(Math.floor(quotaBytes)), PRELOAD, session];
    const group = new ProcessGroup('WebKitGTK', found.path, args, {
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const browser = new WebKit(group, found.version);
    try {
      await within(START_MS, 'the start of WebKitGTK', browser.ready);
      return browser;
    } catch (cause) {
      await group.kill();
      throw cause;
    }
  },
};

class WebKit {
  name = 'webkit';
  version;
  ready;
  #group;
  #last = 0;
  #waiting = new Map();
  #pages = new Map();

  constructor(group, version) {
    this.#group = group;
    this.version = version;
    this.ready = new Promise((resolve, reject) => {
      this.#waiting.set('ready', { resolve, reject });
    });
    group.stdin.on('error', () => {});
    const lines = createInterface({ input: group.stdout });
    lines.on('line', (line) => this.#take(JSON.parse(line)));
    group.exited.then(() => {
      for (const { reject } of this.#waiting.values()) reject(new Error('WebKitGTK is gone'));
      this.#waiting.clear();
    });
  }

  get pid() {
    return this.#group.pid;
  }

  send(command, params = {}) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#group.stdin.write(`${JSON.stringify({ id, do: command, ...params })}\n`);
    });
  }

  #take({ id, ready, page, report, gone, value, error }) {
    if (report !== undefined) this.#pages.get(page)?.onReport(report);
    if (gone === true) this.#pages.get(page)?.end();
    const key = ready === undefined ? id : 'ready';
    const waiting = this.#waiting.get(key);
    this.#waiting.delete(key);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(error));
  }

  async newPage() {
    const id = await this.send('new');
    const page = new WebKitPage(this, id);
    this.#pages.set(id, page);
    return page;
  }

  async close() {
    this.send('quit').catch(() => {});
    await this.#group.ended();
  }

  kill() {
    return this.#group.kill();
  }
}

class WebKitPage {
  /** Called with the text of each `report(text)` in the page. */
  onReport = () => {};
  #browser;
  #id;
  #onEnd = () => {};
  #ended;

  constructor(browser, id) {
    this.#browser = browser;
    this.#id = id;
    this.#ended = new Promise((_, reject) => {
      this.#onEnd = reject;
    });
    this.#ended.catch(() => {});
  }

  /** Its process is gone. */
  end() {
    this.#onEnd(new Error('the process of the page has ended'));
  }

  goto(url) {
    return Promise.race([this.#browser.send('goto', { page: this.#id, url }), this.#ended]);
  }

  async evaluate(fn, ...args) {
    const body = `return await ${sourceOf(fn, args)}`;
    const text = this.#browser.send('evaluate', { page: this.#id, body });
    return resultOf(await Promise.race([text, this.#ended]));
  }

  uncaught() {
    return this.evaluate('() => globalThis.__uncaught ?? []');
  }

  close() {
    return this.#browser.send('close', { page: this.#id });
  }
}
