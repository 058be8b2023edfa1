import { MAX_LANE_WAIT_MS } from '../base/limits.js';
import type { Locks } from '../base/locks.js';
import { withLock } from '../base/timeout.js';

/** How long writers that have met are expected to go on. */
const BUSY_MS = 500;
/** How long nobody waits for a lane that was not let go of in time. */
const STUCK_MS = 10_000;

/**
 * Where the writers of several tabs go one after the other, once they have met: else whoever lost
 * a race must read what the winner wrote, and the winner has the next commit ready before that.
 *
 * A courtesy and nothing else: commits are safe without it. So nobody waits in it for long, a tab that
 * holds it while it is suspended is waited for once, and where there are no locks there is no lane.
 */
export class WriterQueue {
  readonly #locks: Locks | undefined;
  readonly #lockName: string;
  readonly #announce: () => void;
  #busyUntilMs = Number.NEGATIVE_INFINITY;
  #stuckUntilMs = Number.NEGATIVE_INFINITY;
  #announcedMs = Number.NEGATIVE_INFINITY;
  #isHeld = false;

  /** Without locks there are no other tabs. `announce` tells them of a race. */
  constructor(locks?: Locks, lockName = '', announce: () => void = () => {}) {
    this.#locks = locks;
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
    const isStuck = performance.now() < this.#stuckUntilMs;
    if (this.#locks === undefined || !this.isBusy || isStuck) return work(false);
    const begin = async (isAlone: boolean) => {
      if (!isAlone) this.#stuckUntilMs = performance.now() + STUCK_MS;
      this.#isHeld = isAlone;
      try {
        return await work(isAlone);
      } finally {
        this.#isHeld = false;
      }
    };
    return withLock(this.#locks, this.#lockName, MAX_LANE_WAIT_MS, begin);
  }
}
