/** Waits that an abort ends, for work that waits again and again. */
import { abortedBy } from './abort-signal.js';

/**
 * Waits for promises one after the other, each until an abort. Unlike `Promise.race`, it leaves no listeners on a
 * promise that outlives the waits.
 */
export class AbortableWait {
  readonly #signal: AbortSignal | undefined;
  #reject: ((cause: unknown) => void) | undefined;
  #failure: unknown;
  readonly #listener = () => {
    if (this.#signal !== undefined) this.#reject?.(abortedBy(this.#signal));
  };

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener('abort', this.#listener, { once: true });
  }

  /** Makes the current wait, or the next one, reject with `cause`. */
  fail(cause: unknown): void {
    this.#failure = cause;
    this.#reject?.(cause);
  }

  /** Waits for `promise`; rejects with `aborted` on an abort. */
  for<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#signal?.aborted === true) this.#listener();
      if (this.#failure !== undefined) reject(this.#failure);
      // Do this even after a failed wait: otherwise a rejection of `promise` would be unhandled.
      promise.then(resolve, reject);
    });
  }

  /** Stops listening. */
  end(): void {
    this.#signal?.removeEventListener('abort', this.#listener);
    this.#reject = undefined;
  }
}
