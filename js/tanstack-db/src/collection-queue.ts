/** Follows the queue in which a collection of TanStack DB handles its calls and the messages to it, one at a time. */

import type { LogPosition } from './persisted-log.js';

/**
 * The queue is private to TanStack DB. A call is seen from its beginning on, and a message until it enters the queue. Each
 * entry begins in the task in which the one before ends.
 */
export class CollectionQueue {
  #calls = 0;
  #last: LogPosition | undefined;
  #handled: LogPosition | undefined;

  /** The place of the last message; `undefined` if a mutation may be in the queue in front of it. */
  get handled(): LogPosition | undefined {
    return this.#handled;
  }

  /** Notes a call for which the collection waits. */
  async during<T>(call: Promise<T>): Promise<T> {
    this.#calls += 1;
    this.#last = undefined;
    try {
      return await call;
    } finally {
      this.#calls -= 1;
    }
  }

  /** Notes a message. Unless a call is in progress or begins in this task, no call is in front of it. */
  deliver({ term, seq }: LogPosition): void {
    const message = { term, seq };
    this.#last = this.#calls === 0 ? message : undefined;
    this.#handled = undefined;
    setTimeout(() => {
      if (this.#last === message) this.#handled = message;
    }, 0);
  }
}
