import { ending, endWith, Waits } from '../../base/abort-signal.js';
import type { HedgerowError } from '../../base/errors.js';

/** Milliseconds that closing waits for code of the caller, such as the function of a transaction. */
export const CLOSING_MS = 1000;

/** The changes of a handle that are in progress. Closing waits for them. */
export class UnfinishedChanges {
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  /** The waits for code of the caller. Closing ends them. */
  readonly waits = new Waits();

  /** The signal for work in the background, aborted when closing begins. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Whether no change is in progress. */
  get areOver(): boolean {
    return this.#underWay.size === 0;
  }

  /** Resolves once all changes that are in progress now have settled. */
  async over(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** Registers a change until it settles. */
  note<T>(change: Promise<T>): Promise<T> {
    const over = change.then(
      () => {},
      () => {},
    );
    this.#underWay.add(over);
    void over.then(() => this.#underWay.delete(over));
    return change;
  }

  /**
   * Runs a change that `signal` can end. With `waitsForCaller`, closing can end it as well: code of the caller may
   * never answer.
   */
  run<T>(
    signal: AbortSignal | undefined,
    waitsForCaller: boolean,
    work: (signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    const others = waitsForCaller ? this.waits : undefined;
    const { result, over } = ending(signal, work, { others });
    this.note(over);
    return result;
  }

  /**
   * Begins to close. Ends the changes that wait for code of the caller, with `reason`, after `CLOSING_MS`; at once if
   * the storage `isLost`. Returns a function that cancels the timer.
   */
  close(reason: HedgerowError, isLost: boolean): () => void {
    endWith(this.#closing, reason);
    const end = () => this.waits.end(reason);
    if (isLost) end();
    const timer = setTimeout(end, CLOSING_MS);
    return () => clearTimeout(timer);
  }
}
