import { MAX_QUEUE_WAIT_MS } from '../base/limits.js';
import type { Locks } from '../base/locks.js';
import { withLock } from '../base/timeout.js';

/** How long writers that have met are expected to go on. */
const BUSY_MS = 500;
/** How long nobody joins a queue whose head did not move on in time. */
const STUCK_MS = 10_000;

/**
 * A queue for the writers of several tabs, which they join once they have lost races: else whoever lost
 * must read what the winner wrote, and the winner has the next commit ready before that.
 *
 * It makes writers fair, not commits safe: those are safe without it. So nobody waits in it for long, a
 * tab that is suspended at its head is waited for once, and without locks there is no queue.
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
   * Runs `work`: when writers have met, as soon as it is at the head of the queue. It is told whether
   * it is there. Of this tab only one may be here at a time.
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
    return withLock(this.#locks, this.#lockName, MAX_QUEUE_WAIT_MS, begin);
  }
}
