// Takes CPU profiles of the page's timed stretches, and adds up each function's own time.

const INTERVAL_US = 100;
const SHOWN = 24;

/** Profiles the timed stretches of the page, from `attach` to `detach`. */
export class Profiler {
  #browser;
  #session;
  #profiles = [];

  static async attach(browser) {
    const profiler = new Profiler();
    profiler.#browser = browser;
    profiler.#session = await browser.context.newCDPSession(browser.page);
    await profiler.#session.send('Profiler.enable');
    await profiler.#session.send('Profiler.setSamplingInterval', { interval: INTERVAL_US });
    browser.onTimed = (start) => profiler.#turn(start);
    return profiler;
  }

  async #turn(start) {
    if (start) {
      await this.#session.send('Profiler.start');
    } else {
      this.#profiles.push((await this.#session.send('Profiler.stop')).profile);
    }
  }

  async detach() {
    this.#browser.onTimed = undefined;
    await this.#session.detach();
  }

  /** Returns the functions with the most own time in each timed stretch, as shares of it. */
  summary() {
    return this.#profiles.map(ownTimes);
  }
}

function ownTimes({ nodes, samples, timeDeltas }) {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const times = new Map();
  for (const [at, id] of samples.entries()) {
    // A sample stands for the time until the next one. The time before the first is left out.
    const us = Math.max(0, timeDeltas[at + 1] ?? 0);
    const name = frames.get(id);
    times.set(name, (times.get(name) ?? 0) + us);
  }
  const sum = [...times.values()].reduce((total, us) => total + us, 0);
  const functions = [...times]
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([name, us]) => ({ name, ms: us / 1000, share: us / sum }));
  return { ms: sum / 1000, functions };
}

function nameOf({ functionName, url, lineNumber }) {
  const name = functionName === '' ? `(anonymous, line ${lineNumber + 1})` : functionName;
  return url.startsWith('wasm:') ? `wasm ${name}` : name;
}
