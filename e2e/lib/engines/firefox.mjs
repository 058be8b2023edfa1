// Runs Firefox over WebDriver BiDi, which it speaks itself: no driver in between.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import WebSocket from 'ws';
import { findFirefox } from '../../../scripts/lib/engines.mjs';
import { within } from './limits.mjs';
import { ProcessGroup } from './process.mjs';
import { COLLECT_ERRORS, resultOf, sourceOf } from './script.mjs';

const CALL_MS = 60_000;
/** The preference limits all sites together, and one site may have a fifth. */
const SITES = 5;
/** The preferences that keep Firefox from work of its own, which would disturb measurements. */
const QUIET = {
  'app.normandy.enabled': false,
  'app.update.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'browser.sessionstore.resume_from_crash': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'datareporting.healthreport.uploadEnabled': false,
  'extensions.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,',
  'toolkit.telemetry.enabled': false,
};

export const firefox = {
  name: 'firefox',
  browser: 'firefox',
  /** Returns the path and version of the browser, or `undefined`. */
  find: findFirefox,

  /** Starts Firefox on a profile; `quotaBytes` is the limit of one site. */
  async launch(profileDir, { quotaBytes, isPrivate = false, prefs = {} } = {}) {
    const found = firefox.find();
    if (found === undefined) throw new Error('there is no Firefox: npm run setup -- --browser');
    const quota = quotaBytes && {
      'dom.quotaManager.temporaryStorage.fixedLimit': Math.floor((quotaBytes * SITES) / 1024),
    };
    const windows = { 'browser.privatebrowsing.autostart': isPrivate };
    await mkdir(profileDir, { recursive: true });
    const lines = Object.entries({ ...QUIET, ...quota, ...windows, ...prefs }).map(
      ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
    );
    await writeFile(join(profileDir, 'user.js'), lines.join(''));
    const args = [
      '--headless',
      '--no-remote',
      '--profile',
      profileDir,
      '--remote-debugging-port',
      '0',
    ];
    const group = new ProcessGroup('Firefox', found.path, [...args, 'about:blank']);
    try {
      const [, url] = await group.said(/WebDriver BiDi listening on (ws:\S+)/);
      const socket = await Socket.connect(`${url}/session`);
      await socket.send('session.new', { capabilities: {} });
      await socket.send('session.subscribe', { events: ['script.message'] });
      return new Firefox(group, socket, found.version);
    } catch (cause) {
      await group.kill();
      throw cause;
    }
  },
};

class Firefox {
  name = 'firefox';
  version;
  #group;
  #socket;

  constructor(group, socket, version) {
    this.#group = group;
    this.#socket = socket;
    this.version = version;
  }

  get pid() {
    return this.#group.pid;
  }

  async newPage() {
    const { context } = await this.#socket.send('browsingContext.create', { type: 'tab' });
    const page = new FirefoxPage(this.#socket, context);
    await page.prepare();
    return page;
  }

  async close() {
    await this.#socket.send('browser.close', {}).catch(() => {});
    await this.#group.ended();
    this.#socket.end();
  }

  async kill() {
    await this.#group.kill();
    this.#socket.end();
  }
}

class FirefoxPage {
  /** Called with the text of each `report(text)` in the page. */
  onReport = () => {};
  #socket;
  #context;

  constructor(socket, context) {
    this.#socket = socket;
    this.#context = context;
  }

  async prepare() {
    this.#socket.listen('script.message', ({ channel, data, source }) => {
      if (channel === 'report' && source.context === this.#context) this.onReport(data.value);
    });
    const contexts = [this.#context];
    await this.#socket.send('script.addPreloadScript', {
      functionDeclaration: `(send) => { globalThis.report = send; ${COLLECT_ERRORS} }`,
      arguments: [{ type: 'channel', value: { channel: 'report' } }],
      contexts,
    });
  }

  async goto(url) {
    const params = { context: this.#context, url, wait: 'complete' };
    await this.#socket.send('browsingContext.navigate', params);
  }

  async evaluate(fn, ...args) {
    const { result, exceptionDetails } = await this.#socket.send('script.evaluate', {
      expression: sourceOf(fn, args),
      target: { context: this.#context },
      awaitPromise: true,
    });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
    return resultOf(result.value);
  }

  uncaught() {
    return this.evaluate('() => globalThis.__uncaught ?? []');
  }

  async close() {
    await this.#socket.send('browsingContext.close', { context: this.#context });
  }
}

/** Commands with their answers, and events. */
class Socket {
  #socket;
  #last = 0;
  #waiting = new Map();
  #listeners = [];

  static async connect(url) {
    const socket = new Socket();
    socket.#socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 1 << 28 });
    const opened = new Promise((resolve, reject) => {
      socket.#socket.once('open', resolve);
      socket.#socket.once('error', reject);
    });
    await within(CALL_MS, 'Firefox', opened);
    socket.#socket.on('message', (data) => socket.#take(JSON.parse(String(data))));
    socket.#socket.on('close', () => socket.#lost());
    socket.#socket.on('error', () => {});
    return socket;
  }

  listen(method, listener) {
    this.#listeners.push([method, listener]);
  }

  send(method, params) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      if (this.#socket.readyState !== WebSocket.OPEN) {
        reject(new Error(`${method}: Firefox is gone`));
        return;
      }
      this.#waiting.set(id, { method, resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  end() {
    this.#socket.terminate();
  }

  #take({ id, method, params, type, result, error, message }) {
    if (type === 'event') {
      for (const [wanted, listener] of this.#listeners) if (wanted === method) listener(params);
      return;
    }
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (type === 'success') waiting?.resolve(result);
    else waiting?.reject(new Error(`${waiting.method}: ${error}: ${message}`));
  }

  #lost() {
    for (const { method, reject } of this.#waiting.values()) {
      reject(new Error(`${method}: Firefox is gone`));
    }
    this.#waiting.clear();
  }
}
