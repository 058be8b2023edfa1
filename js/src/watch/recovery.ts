import { notify } from '../base/report.js';

/** Who waits for what has failed to be readable again. */
export class Recovery {
  readonly #listeners = new Set<() => void>();

  /** Has `listener` called each time; returns how to stop. */
  on(listener: () => void): () => void {
    // One of its own for each call: two may share a function.
    const own = () => listener();
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** It may be tried again. */
  tell(): void {
    for (const listener of [...this.#listeners]) notify(listener, undefined);
  }
}
