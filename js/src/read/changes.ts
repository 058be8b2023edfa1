import type { HedgerowError } from '../base/errors.js';
import { ending, endWith, Waits } from '../base/signal.js';

/** Milliseconds that closing gives code of the caller, such as the function of a transaction, to end. */
export const CLOSING_MS = 1000;

/** The changes of a handle that are under way: closing waits for them, but not for ever. */
export class Changes {
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  /** Waits for code of the caller, which closing ends. */
  readonly waits = new Waits();

  /** Aborted when closing begins: for work that no caller waits for. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Whether there are none. */
  get areOver(): boolean {
    return this.#underWay.size === 0;
  }

  /** Resolves when all that are under way now are over. */
  async over(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** Takes note of a change until it is over. */
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
   * Runs a change that its caller's signal ends; when it waits for code of the caller, which may never answer,
   * closing ends it, too.
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
   * Begins to close. Those that wait for code of the caller are ended after a while, or at once where nothing
   * can be written any more; `reason` is what they reject with. Returns how to end the wait for that.
   */
  close(reason: HedgerowError, isLost: boolean): () => void {
    endWith(this.#closing, reason);
    const end = () => this.waits.end(reason);
    if (isLost) end();
    const timer = setTimeout(end, CLOSING_MS);
    return () => clearTimeout(timer);
  }
}
