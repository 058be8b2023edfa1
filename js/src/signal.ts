/** Abort signals, and waiting that they end. */
import { HedgerowError } from './errors.js';

function abortedBy(signal: AbortSignal): HedgerowError {
  // That of a store which is closed says so itself.
  if (signal.reason instanceof HedgerowError) return signal.reason;
  return new HedgerowError('aborted', 'the signal was aborted', { cause: signal.reason });
}

/** Throws `aborted` when the signal says so. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortedBy(signal);
}

/** Signals of what is ended together. */
export class Endings {
  // Not one signal for all: Node warns of many listeners on one.
  readonly #all = new Set<AbortController>();

  /** A signal that is aborted with `signal`, or with all others, until `end`. */
  begin(signal: AbortSignal | undefined): { readonly signal: AbortSignal; end(): void } {
    const own = new AbortController();
    const abort = () => own.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    this.#all.add(own);
    const end = () => {
      signal?.removeEventListener('abort', abort);
      this.#all.delete(own);
    };
    return { signal: own.signal, end };
  }

  /** Aborts all of them. */
  abort(reason: HedgerowError): void {
    for (const one of this.#all) one.abort(reason);
  }
}

/** A promise that rejects with `aborted` when the signal is aborted, until `stop`. */
export function abortion(signal: AbortSignal): { promise: Promise<never>; stop: () => void } {
  let stop = () => {};
  const promise = new Promise<never>((_, reject) => {
    const listener = () => reject(abortedBy(signal));
    signal.addEventListener('abort', listener, { once: true });
    stop = () => signal.removeEventListener('abort', listener);
  });
  promise.catch(() => {});
  return { promise, stop };
}

/**
 * Waits for promises one after the other, each until the signal is aborted. Unlike a race
 * for each of them it leaves nothing behind on a promise that outlives them all.
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

  /** Makes the wait under way, or the next one, reject with `cause`. */
  fail(cause: unknown): void {
    this.#failure = cause;
    this.#reject?.(cause);
  }

  /** What `promise` resolves to, or `aborted`. */
  for<T>(promise: Promise<T>): Promise<T> {
    checkSignal(this.#signal);
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      promise.then(resolve, reject);
    });
  }

  /** Stops listening. */
  end(): void {
    this.#signal?.removeEventListener('abort', this.#listener);
    this.#reject = undefined;
  }
}
