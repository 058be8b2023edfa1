/**
 * What a Hermes may lack, under the names that the rest of the wrapper knows. The build puts these in
 * the place of the globals (`scripts/lib/react-native.mjs`), so that nothing of an app's own is changed.
 */
interface Clock {
  now(): number;
}

export const performance: Clock = (globalThis as { performance?: Clock }).performance ?? Date;

// By another name, or the build would put this very file in the place of its members.
const symbols: { readonly asyncIterator?: symbol } = Symbol;

/** Under this name Babel looks for it, too, in what it makes of `for await`. */
export const asyncIterator: symbol | string = symbols.asyncIterator ?? '@@asyncIterator';

export const queueMicrotask: (run: () => void) => void =
  globalThis.queueMicrotask ?? ((run) => void Promise.resolve().then(run));

/** As much of a signal as is needed within Hedgerow. */
class PlainSignal {
  aborted = false;
  reason: unknown;
  readonly #listeners = new Set<() => void>();

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of [...this.#listeners]) listener();
    this.#listeners.clear();
  }
}

class PlainController {
  readonly signal = new PlainSignal();

  abort(reason?: unknown): void {
    this.signal.abort(reason);
  }
}

export const AbortController = globalThis.AbortController ?? PlainController;

/** Tells one ref from another of its name; nothing here is a secret. */
const plainCrypto = {
  getRandomValues<T extends Uint32Array>(numbers: T): T {
    for (let index = 0; index < numbers.length; index++) numbers[index] = Math.random() * 2 ** 32;
    return numbers;
  },
};

export const crypto: Pick<typeof plainCrypto, 'getRandomValues'> =
  (globalThis.crypto as Crypto | undefined)?.getRandomValues === undefined
    ? plainCrypto
    : (globalThis.crypto as unknown as typeof plainCrypto);
