/**
 * Where transactions that lost to other tabs run again, one at a time in all tabs: else each
 * would have to read what another has just written, and so lose to it once more.
 *
 * A courtesy and nothing else: commits are safe without it. So nobody waits in it for long,
 * and where there are no Web Locks there is no lane.
 */
import { MAX_LANE_WAIT_MS } from './limits.js';

/** How long the writers of other tabs are expected to go on. */
const BUSY_MS = 500;

/** See the module's text. */
export class Lane {
  readonly #lockName: string | undefined;
  #busyUntilMs = Number.NEGATIVE_INFINITY;

  /** Without a lock's name there are no other tabs. */
  constructor(lockName: string | undefined) {
    this.#lockName = lockName;
  }

  /** Whether others were writing a moment ago. */
  get isBusy(): boolean {
    return performance.now() < this.#busyUntilMs;
  }

  /** Another writer has moved the store. */
  noteOthers(): void {
    this.#busyUntilMs = performance.now() + BUSY_MS;
  }

  /** Runs `work` when no other tab does the same; at once when no other tab was writing. */
  async hold<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const locks = (globalThis.navigator as Navigator | undefined)?.locks;
    if (this.#lockName === undefined || locks === undefined || !this.isBusy) return work();
    let working: Promise<T> | undefined;
    const wait = new AbortController();
    const stop = () => wait.abort();
    const timer = setTimeout(stop, MAX_LANE_WAIT_MS);
    signal?.addEventListener('abort', stop, { once: true });
    const begin = async () => {
      clearTimeout(timer);
      working = work();
      await working.catch(() => {});
    };
    try {
      await locks.request(this.#lockName, { signal: wait.signal }, begin);
    } catch {
      // It took too long, or there are no locks for this page: then without.
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
    return working ?? work();
  }
}
