/**
 * Where the writers of several tabs go one after the other, once they have met: else whoever lost
 * a race must read what the winner wrote, and the winner has the next commit ready before that.
 *
 * A courtesy and nothing else: commits are safe without it. So nobody waits in it for long, and
 * where there are no Web Locks there is no lane.
 */
import { MAX_LANE_WAIT_MS } from './limits.js';

/** How long writers that have met are expected to go on. */
const BUSY_MS = 500;

/** See the module's text. */
export class Lane {
  readonly #lockName: string | undefined;
  readonly #announce: () => void;
  #busyUntilMs = Number.NEGATIVE_INFINITY;
  #announcedMs = Number.NEGATIVE_INFINITY;
  #isHeld = false;

  /** Without a lock's name there are no other tabs. `announce` tells them of a race. */
  constructor(lockName?: string, announce: () => void = () => {}) {
    this.#lockName = lockName;
    this.#announce = announce;
  }

  /** Whether writers have met a moment ago. */
  get isBusy(): boolean {
    return performance.now() < this.#busyUntilMs;
  }

  /** Another writer is at work. */
  note(): void {
    this.#busyUntilMs = performance.now() + BUSY_MS;
  }

  /** A race was lost: its winner does not know yet. */
  noteRace(): void {
    this.note();
    if (performance.now() - this.#announcedMs < BUSY_MS / 2) return;
    this.#announcedMs = performance.now();
    this.#announce();
  }

  /**
   * Runs `work`: when writers have met, as soon as no other tab is in the lane. It is told
   * whether it has the lane for itself. Of this tab only one may be here at a time.
   */
  async hold<T>(work: (isAlone: boolean) => Promise<T>): Promise<T> {
    if (this.#isHeld) return work(true);
    const locks = (globalThis.navigator as Navigator | undefined)?.locks;
    if (this.#lockName === undefined || locks === undefined || !this.isBusy) return work(false);
    let working: Promise<T> | undefined;
    const wait = new AbortController();
    const timer = setTimeout(() => wait.abort(), MAX_LANE_WAIT_MS);
    const begin = async () => {
      clearTimeout(timer);
      this.#isHeld = true;
      working = work(true);
      await working.catch(() => {});
      this.#isHeld = false;
    };
    try {
      await locks.request(this.#lockName, { signal: wait.signal }, begin);
    } catch {
      // It took too long, or this page may have no locks: then without.
    } finally {
      clearTimeout(timer);
    }
    return working ?? work(false);
  }
}
