// A remote for the page of a torture: it takes a little time, knows the requests under way, and holds a request until
// the browser is dead.

import { pause } from '../../../lib/engines/limits.mjs';
import { below } from '../random.mjs';

/** The longest time of a request before it takes effect, and again after that, in milliseconds. */
const MOST_MS = 8;

/** Returns the kind of a request that reads or writes an object. */
const kindOf = (call, name) => {
  if (!name.startsWith('p/') && !name.startsWith('d/')) return `${call} repository`;
  return `${call} ${name.startsWith('p/') ? 'pack' : 'delta'}`;
};

export class Gate {
  /** The remote through the gate. */
  remote;
  /** The number of requests of each kind. */
  seen = new Map();
  /** Swaps that have succeeded. */
  swaps = 0;
  #random;
  #under = new Set();
  #hold;
  /** Ends the wait of the held request. */
  #release = () => {};

  constructor(inner, random) {
    this.#random = random;
    const pass = (kind, call) => this.#pass(kind, call);
    this.remote = {
      ...inner,
      readHead: (...call) => pass('read head', () => inner.readHead(...call)),
      readHeadSince: (...call) => pass('read head', () => inner.readHeadSince(...call)),
      swapHead: (...call) => pass('swap head', () => inner.swapHead(...call)),
      get: (name, ...call) => pass(kindOf('get', name), () => inner.get(name, ...call)),
      put: (name, ...call) => pass(kindOf('put', name), () => inner.put(name, ...call)),
    };
  }

  /** The requests under way, and whether they have taken effect. */
  get underWay() {
    return [...this.#under].map(({ kind, isDone }) => ({ kind, isDone }));
  }

  /**
   * Holds the `nth` request from now on that is of one of these kinds, before it takes effect or, if `isDone`, after
   * that. Resolves when it is held.
   */
  hold({ kinds, nth, isDone }) {
    return new Promise((resolve) => {
      this.#hold = { kinds, left: nth, isDone, onHeld: resolve };
    });
  }

  /** Ends a hold: the held request takes effect now, or never. */
  release(takesEffect) {
    this.#hold = undefined;
    this.#release(takesEffect);
    this.#release = () => {};
  }

  async #pass(kind, call) {
    this.seen.set(kind, (this.seen.get(kind) ?? 0) + 1);
    const request = { kind, isDone: false };
    this.#under.add(request);
    try {
      await pause(below(this.#random, MOST_MS));
      await this.#wait(request);
      const answer = await call();
      request.isDone = true;
      if (answer?.state === 'swapped') this.swaps += 1;
      await this.#wait(request);
      await pause(below(this.#random, MOST_MS));
      return answer;
    } finally {
      this.#under.delete(request);
    }
  }

  async #wait({ kind, isDone }) {
    const hold = this.#hold;
    if (hold === undefined || !hold.kinds.includes(kind) || hold.isDone !== isDone) return;
    hold.left -= 1;
    if (hold.left > 0) return;
    this.#hold = undefined;
    const released = new Promise((resolve) => {
      this.#release = resolve;
    });
    hold.onHeld();
    if (!(await released) && !isDone) throw new Error('this request got lost');
  }
}
