import { HedgerowError } from '../base/errors.js';

/** Milliseconds before each further try: five in all, within 7.5 seconds. */
const DELAYS_MS = [500, 1000, 2000, 4000] as const;
/** After so many traps in a row it is given up. After a trap there is another instance at once. */
const MAX_TRAPS = 3;
const TRAPS: ReadonlySet<string> = new Set(['crashed', 'out-of-memory']);

/** How often what cannot be read is tried again before it is given up. */
export class Tries {
  #traps = 0;
  #failures = 0;

  /** Milliseconds until the next try after a failure; `undefined` when it is given up. */
  delayAfter(cause: unknown): number | undefined {
    if (!(cause instanceof HedgerowError)) return undefined;
    if (TRAPS.has(cause.code)) return this.#traps + 1 < MAX_TRAPS ? 0 : undefined;
    return cause.retryable ? DELAYS_MS[this.#failures] : undefined;
  }

  /** Counts a failure. */
  note(cause: unknown): void {
    if (this.delayAfter(cause) === 0) this.#traps += 1;
    else this.#failures += 1;
  }

  /** It has worked. */
  reset(): void {
    this.#traps = 0;
    this.#failures = 0;
  }
}

/** Calls `run` after so many milliseconds, for which Node does not stay alive; returns how to stop that. */
export function later(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms);
  (timer as { unref?(): void }).unref?.();
  return () => clearTimeout(timer);
}
