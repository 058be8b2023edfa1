// Speaks with the page of the torture, in any engine: calls with a limit, and reports that outlive the page.

import { pause, within } from '../../lib/engines/limits.mjs';

const CALL_MS = 60_000;

/** The reports of a page: begun and acknowledged commits. */
export class Reports {
  begun = {};
  acknowledged = { hedgerow: {}, control: {} };
  failures = [];
  #onReady;
  ready = new Promise((resolve) => {
    this.#onReady = resolve;
  });

  take(message) {
    const [kind, ...rest] = JSON.parse(message);
    if (kind === 'ready') this.#onReady();
    else if (kind === 'failed') this.failures.push(rest[0]);
    else if (kind === 'begun') this.begun[rest[0]] = rest[1];
    else if (kind === 'acknowledged') this.acknowledged[rest[0]][rest[1]] = rest[2];
  }

  /** The number of acknowledged commits: the count of each lane is its last. */
  get commits() {
    const { collect: _, ...lanes } = this.acknowledged.hedgerow;
    return Object.values(lanes).reduce((sum, at) => sum + at, 0);
  }

  isUnderWay(name) {
    return (this.begun[name] ?? 0) > (this.acknowledged.hedgerow[name] ?? 0);
  }
}

/** Loads the page of the torture into a page of any engine; its reports go to `reports`. */
export async function visit(page, url, reports) {
  if (reports !== undefined) page.onReport = (message) => reports.take(message);
  await within(CALL_MS, 'the page', page.goto(url));
  while (!(await page.evaluate('() => globalThis.torture !== undefined'))) await pause(20);
  return page;
}

/** Calls a function of the page; fails without an answer in time. */
export function call(page, name, ...args) {
  return callWithin(CALL_MS, page, name, ...args);
}

/** The same with a limit of `ms`. */
export function callWithin(ms, page, name, ...args) {
  const answer = page.evaluate((name, args) => globalThis.torture[name](...args), name, args);
  return within(ms, name, answer);
}

/** Runs `work` with a page of a browser on the profile, which it closes in the end. */
export async function withPage(engine, { profileDir, url, quotaBytes, isKilled = false }, work) {
  const browser = await engine.launch(profileDir, { quotaBytes });
  try {
    const page = await visit(await browser.newPage(), url);
    const result = await work(page);
    const uncaught = await page.uncaught();
    if (!isKilled) await browser.close();
    return { result, uncaught, version: browser.version };
  } finally {
    await browser.kill();
  }
}
