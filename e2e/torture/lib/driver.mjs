// Speaks with the page of the torture: calls with a limit, and reports that outlive the page.

import { within } from '../../lib/engines/limits.mjs';

const CALL_MS = 60_000;

/** What a page has reported: what was begun, and what was acknowledged. */
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

  /** Commits of which Hedgerow has acknowledged so many that the count of each lane is its last. */
  get commits() {
    const { collect: _, ...lanes } = this.acknowledged.hedgerow;
    return Object.values(lanes).reduce((sum, at) => sum + at, 0);
  }

  isUnderWay(name) {
    return (this.begun[name] ?? 0) > (this.acknowledged.hedgerow[name] ?? 0);
  }
}

/** Loads the page of the torture into `page`; its reports go to `reports`. */
export async function visit(page, origin, reports) {
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  const session = await page.context().newCDPSession(page);
  if (reports !== undefined) {
    session.on('Runtime.bindingCalled', ({ payload }) => reports.take(payload));
    await session.send('Runtime.enable');
    await session.send('Runtime.addBinding', { name: 'report' });
  }
  await within(CALL_MS, 'the page', page.goto(origin));
  const ready = page.waitForFunction(() => globalThis.torture !== undefined);
  await within(CALL_MS, 'the page', ready);
  return { page, session, errors };
}

/** Calls a function of the page; fails when there is no answer in time. */
export function call(page, name, ...args) {
  const answer = page.evaluate(([name, args]) => globalThis.torture[name](...args), [name, args]);
  return within(CALL_MS, name, answer);
}
