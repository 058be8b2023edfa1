/** The functions of an app that a part calls with its news. */
import { notify } from './call-callback-safely.js';
import { HedgerowError } from './errors.js';
import { kindOf } from './runtime-type-checks.js';

export class Listeners<News = void> {
  readonly #all = new Set<(news: News) => unknown>();

  /** Calls `listener` with each news; returns a function that ends the calls. */
  add(call: string, listener: (news: News) => unknown): () => void {
    if (typeof listener !== 'function') {
      throw new HedgerowError(
        'invalid-argument',
        `${call} takes a function, not ${kindOf(listener)}`,
      );
    }
    // A new function for each call: the same listener may be added twice.
    const own = (news: News) => listener(news);
    this.#all.add(own);
    return () => void this.#all.delete(own);
  }

  /** Calls the listeners. Their errors are reported, and do not disturb the caller. */
  tell(news: News): void {
    for (const listener of [...this.#all]) notify(listener, news);
  }
}
