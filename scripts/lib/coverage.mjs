// Which code runs, as V8 counts it: what guides `fuzz-remote.mjs` to inputs that reach new code. V8 reports the blocks
// that did not run of each function that did; so a block is reached by the first run of its function without it in the
// report.

import { Session } from 'node:inspector';

const WHOLE = 'whole';
const isInside = ([start, end], [outerStart, outerEnd]) => start >= outerStart && end <= outerEnd;

export class Coverage {
  #session = new Session();
  #url;
  /** By function: its blocks that were ever reported, and whether they were reached. */
  #functions = new Map();

  /** Of the script with this address, which must not have run before. */
  constructor(url) {
    this.#url = url;
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  #post(method, params) {
    let outcome;
    this.#session.post(method, params, (error, result) => {
      if (error) throw new Error(error.message);
      outcome = result;
    });
    return outcome;
  }

  /** The functions that have run since the last call, with the blocks of them that have not. */
  #ran() {
    const all = this.#post('Profiler.takePreciseCoverage').result;
    const functions = all.filter(({ url }) => url === this.#url).flatMap((one) => one.functions);
    return functions
      .filter(({ ranges: [whole] }) => whole.count > 0)
      .map(({ ranges: [whole, ...inner] }) => {
        const missed = new Map();
        for (const { startOffset, endOffset, count } of inner) {
          if (count === 0) missed.set(`${startOffset}:${endOffset}`, [startOffset, endOffset]);
        }
        return { name: `${whole.startOffset}:${whole.endOffset}`, missed };
      });
  }

  /** How many functions and blocks were reached. */
  get places() {
    let total = 0;
    for (const blocks of this.#functions.values()) {
      total += 1;
      for (const { isReached } of blocks.values()) total += isReached ? 1 : 0;
    }
    return total;
  }

  /** The places that were reached for the first time since the last call. */
  reached() {
    const places = [];
    for (const { name, missed } of this.#ran()) {
      const known = this.#functions.get(name);
      const blocks = known ?? new Map();
      if (known === undefined) {
        this.#functions.set(name, blocks);
        places.push({ name, block: WHOLE });
      }
      const before = [...blocks.values()].filter(({ isReached }) => !isReached);
      for (const [block, range] of missed) {
        if (blocks.has(block)) continue;
        // Of a function that ran before, a block that was not reported had run, or was in one that had not.
        const isUnknown = known === undefined || before.some((one) => isInside(range, one.range));
        blocks.set(block, { range, isReached: !isUnknown });
      }
      for (const [block, state] of blocks) {
        const isMissed = [...missed.values()].some((range) => isInside(state.range, range));
        if (state.isReached || isMissed) continue;
        state.isReached = true;
        places.push({ name, block });
      }
    }
    return places;
  }

  /** Whether what has run since the last call reaches one of these places. */
  reaches(places) {
    const ran = new Map(this.#ran().map(({ name, missed }) => [name, missed]));
    return places.some(({ name, block }) => {
      const missed = ran.get(name);
      if (missed === undefined) return false;
      const range = this.#functions.get(name).get(block)?.range;
      return range === undefined || ![...missed.values()].some((one) => isInside(range, one));
    });
  }

  end() {
    this.#session.disconnect();
  }
}
