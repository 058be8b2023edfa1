import { notify } from '../../base/call-callback-safely.js';

/** Listeners that wait until a failed read may succeed again. */
export class Recovery {
  readonly #listeners = new Set<() => void>();

  /** Calls `listener` each time; returns a function that ends the calls. */
  on(listener: () => void): () => void {
    // A new function for each call: the same listener may be added twice.
    const own = () => listener();
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** Calls the listeners, since reads may succeed again. */
  tell(): void {
    for (const listener of [...this.#listeners]) notify(listener, undefined);
  }
}
