import { MAX_QUEUE_WAIT_MS } from '../../base/limits.js';
import type { Locks } from '../../base/locks.js';
import { withLock } from '../../base/timeout.js';

/** How long after a race writers probably meet again, in milliseconds. */
const BUSY_MS = 500;
/** How long this handle stays out of a queue whose head took too long, in milliseconds. */
const STUCK_MS = 10_000;

/**
 * A queue for the writers of several tabs, which join it after lost races. Without it a loser must read the winner's
 * commit, and the winner has its next commit ready before that.
 *
 * It adds fairness; commits are safe without it. So waits are short, a suspended tab at the head delays others only
 * once, and without locks there is no queue.
 */
export class WriterQueue {
  readonly #locks: Locks | undefined;
  readonly #lockName: string;
  readonly #announce: () => void;
  #busyUntilMs = Number.NEGATIVE_INFINITY;
  #stuckUntilMs = Number.NEGATIVE_INFINITY;
  #announcedMs = Number.NEGATIVE_INFINITY;
  #isHeld = false;

  /** `announce` sends the other tabs a message about a race. Without `locks` there are no other tabs. */
  constructor(locks?: Locks, lockName = '', announce: () => void = () => {}) {
    this.#locks = locks;
    this.#lockName = lockName;
    this.#announce = announce;
  }

  /** Whether writers have met within the last `BUSY_MS`. */
  get isBusy(): boolean {
    return performance.now() < this.#busyUntilMs;
  }

  /** Notes that another writer is at work. */
  note(): void {
    this.#busyUntilMs = performance.now() + BUSY_MS;
  }

  /** Notes a lost race, and announces it at most every `BUSY_MS / 2`, since the winner does not know. */
  noteRace(): void {
    this.note();
    if (performance.now() - this.#announcedMs < BUSY_MS / 2) return;
    this.#announcedMs = performance.now();
    this.#announce();
  }

  /**
   * Runs `work`; if writers have met, waits first for the head of the queue. `isAlone` says whether it got there. This
   * tab may make only one call at a time.
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
