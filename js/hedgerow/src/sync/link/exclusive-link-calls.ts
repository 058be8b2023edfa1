/** Runs the calls of a connection one after the other, in this tab and in others. */

import { checkSignal } from '../../base/abort-signal.js';
import type { SyncHost } from './linked-store-types.js';
import type { Leases } from './tab-leases.js';

export class CallQueue {
  readonly #store: Pick<SyncHost, 'check' | 'changes'>;
  readonly #leases: Leases;
  #last: Promise<unknown> = Promise.resolve();

  /** Closing the store closes the leases. */
  constructor(store: Pick<SyncHost, 'check' | 'changes'>, leases: Leases) {
    this.#store = store;
    this.#leases = leases;
    const { closing } = store.changes;
    closing.addEventListener('abort', () => leases.close(), { once: true });
  }

  /** Settles when all calls so far have ended. */
  get over(): Promise<unknown> {
    return this.#last;
  }

  run<T>(
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    this.#store.check();
    checkSignal(signal);
    // The network may never answer: closing does not wait for it for long.
    return this.#store.changes.run(signal, true, (own) => {
      const holdLease = () => this.#leases.hold('call', () => work(own), own);
      const result = this.#last.then(holdLease);
      this.#last = result.catch(() => {});
      return result;
    });
  }
}
