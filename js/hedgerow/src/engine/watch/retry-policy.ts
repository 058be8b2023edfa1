import { type ErrorKind, HedgerowError, kindOfError } from '../../base/errors.js';

/** Milliseconds before each retry: five tries in all, within 7.5 seconds. */
const DELAYS_MS = [500, 1000, 2000, 4000] as const;
/** The number of traps in a row that ends the tries. After a trap the next try comes at once, in a new instance. */
const MAX_TRAPS = 3;
const TRAPS: ReadonlySet<ErrorKind> = new Set(['unavailable/crashed', 'out-of-memory']);

/** Counts the failures of a read, and decides when to give up. */
export class Tries {
  #traps = 0;
  #failures = 0;

  /** Returns the milliseconds from a failure to the next try; `undefined` to give up. */
  delayAfter(cause: unknown): number | undefined {
    if (!(cause instanceof HedgerowError)) return undefined;
    if (TRAPS.has(kindOfError(cause))) return this.#traps + 1 < MAX_TRAPS ? 0 : undefined;
    return cause.retryable ? DELAYS_MS[this.#failures] : undefined;
  }

  /** Counts a failure. */
  note(cause: unknown): void {
    if (this.delayAfter(cause) === 0) this.#traps += 1;
    else this.#failures += 1;
  }

  /** Call it after a success. */
  reset(): void {
    this.#traps = 0;
    this.#failures = 0;
  }
}
