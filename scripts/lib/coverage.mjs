// Records the code that runs, as V8 counts it, to guide `fuzz-remote.mjs` to inputs that reach new code. V8 reports the
// blocks that did not run of each function that did; so the first run of a block's function that does not report it has
// reached the block.

import { Session } from 'node:inspector';

const WHOLE = 'whole';
const isInside = ([start, end], [outerStart, outerEnd]) => start >= outerStart && end <= outerEnd;

export class Coverage {
  #session = new Session();
  #url;
  /** By function: all its reported blocks, and whether they were reached. */
  #functions = new Map();

  /** Watches the script with this address, which must not have run before. */
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

  /** Returns the functions that have run since the last call, with their blocks that have not run. */
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

  /** Counts the functions and blocks that were reached. */
  get places() {
    let total = 0;
    for (const blocks of this.#functions.values()) {
      total += 1;
      for (const { isReached } of blocks.values()) total += isReached ? 1 : 0;
    }
    return total;
  }

  /** Returns the places that were reached for the first time since the last call. */
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
        // In a function that ran before, an unreported block had run, or was inside one that had not.
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

  /** Whether the code that has run since the last call includes one of these places. */
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
