import { notify } from '../../base/report.js';

/** Listeners that wait until what has failed can be read again. */
export class Recovery {
  readonly #listeners = new Set<() => void>();

  /** Calls `listener` each time; returns a function that stops that. */
  on(listener: () => void): () => void {
    // A function of its own for each call: two callers may pass the same one.
    const own = () => listener();
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** Calls the listeners: reading may succeed again. */
  tell(): void {
    for (const listener of [...this.#listeners]) notify(listener, undefined);
  }
}
