/**
 * Globals that Hermes may lack, under their usual names. The build uses them in place of the globals
 * (`scripts/lib/react-native.mjs`), so that an app's own globals do not change.
 */
interface Clock {
  now(): number;
}

export const performance: Clock = (globalThis as { performance?: Clock }).performance ?? Date;

// Use an alias: the build would replace members of `Symbol` by this file.
const symbols: { readonly asyncIterator?: symbol } = Symbol;

/** The name that Babel's code for `for await` also falls back to. */
export const asyncIterator: symbol | string = symbols.asyncIterator ?? '@@asyncIterator';

export const queueMicrotask: (run: () => void) => void =
  globalThis.queueMicrotask ?? ((run) => void Promise.resolve().then(run));

/** The part of `AbortSignal` that Hedgerow uses. */
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

/** Random numbers that are not cryptographic: they distinguish refs of one name, and are no secret. */
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

/** Copies JSON, which is all that Hedgerow passes: rows as they are stored. */
export const structuredClone: <Value>(value: Value) => Value =
  globalThis.structuredClone ?? ((value) => JSON.parse(JSON.stringify(value)));
