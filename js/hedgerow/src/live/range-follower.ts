import { later } from '../base/timeout.js';
import type { ReadContext } from '../engine/read/context.js';
import type { ScanOptions } from '../engine/read/scan-options.js';
import { Tries } from '../engine/watch/retry-policy.js';
import type { Snapshot } from '../store/snapshot.js';
import type { ChangeBatch, FollowedRange } from './change-batch.js';
import { FollowerGroup } from './follower-group.js';
import type { FollowerRegistry, StoreFollower } from './follower-registry.js';
import { isReadable } from './read-synchronously.js';
import type { Member, PositionedEntry } from './row-window-list.js';
import type { LiveFilter, LiveStatus } from './types.js';

/** Milliseconds for which a follower without listeners stays up to date: it may be shown again. */
const LINGER_MS = 1000;

/** A checked request to follow a range. */
export interface FollowerSpec extends FollowedRange {
  readonly hub: FollowerRegistry;
  /** Equal for equal rows, in whatever order and window. */
  readonly rowsName: string;
  /** Followers with equal names share their state. */
  readonly name: string;
  readonly reverse: boolean;
  readonly offset: number;
  readonly limit: number;
  /** See `LiveSource.filter`. */
  readonly filter?: LiveFilter | undefined;
  /** See `LiveSource.whenReady`. */
  readonly whenReady: () => Promise<unknown> | undefined;
}

/** A follower that keeps a part of a range up to date for all its listeners. */
export abstract class Follower<
  State extends LiveStatus = LiveStatus,
  Own extends FollowerSpec = FollowerSpec,
> implements Member, StoreFollower
{
  readonly wanted: Own;
  readonly listeners = new Set<() => void>();
  group: Member['group'];
  state: State;
  /** Whether `state` has a result to show, which may be from before a failure. */
  isLoaded = false;
  hasFailed = false;
  /** Whether it is not kept up to date. */
  isOver = true;
  /** Changes when the current read is no longer wanted. */
  #run = 0;
  #isUsed = false;
  #stopTimer = () => {};

  constructor(wanted: Own, state: State) {
    this.wanted = wanted;
    this.state = state;
  }

  abstract readonly entries: readonly PositionedEntry[];
  abstract apply(news: ChangeBatch): Generator<void, boolean, void>;

  /** Reads from memory in this turn; returns `false` if it cannot. */
  protected abstract readNow(from: ReadContext): boolean;

  /** Reads from a snapshot, and shows the result if it is still wanted. */
  protected abstract read(snapshot: Snapshot, isWanted: () => boolean): Promise<void>;

  /** Shows a state, unless it is the same. */
  protected show(state: State): void {
    const names = Object.keys(state) as (keyof State)[];
    if (names.every((name) => Object.is(state[name], this.state[name]))) return;
    this.state = state;
    if (this.listeners.size > 0) this.wanted.hub.changed.add(this);
  }

  /** Keeps it up to date for a while. */
  touch(): void {
    this.#isUsed = true;
    if (!this.isOver) return;
    this.isOver = false;
    this.wanted.hub.add(this);
    this.#idle();
    this.begin(true);
  }

  /**
   * Keeps it up to date, and calls `listener` after each change; returns a function that stops it. Begins again after a
   * failure.
   */
  listen(listener: () => void): () => void {
    this.touch();
    this.retry();
    this.#stopTimer();
    this.listeners.add(listener);
    return () => {
      if (this.listeners.delete(listener)) this.#idle();
    };
  }

  /** Begins again after a failure. */
  retry(): void {
    if (this.hasFailed) this.begin();
  }

  /** Ends it at once if it has no listeners. */
  release(): void {
    if (this.listeners.size > 0 || this.isOver) return;
    this.#stopTimer();
    this.isOver = true;
    this.#leave();
    this.wanted.hub.delete(this);
  }

  #idle(): void {
    if (this.listeners.size > 0) return;
    this.#stopTimer();
    this.#stopTimer = later(() => {
      if (!this.#isUsed) return this.release();
      this.#isUsed = false;
      this.#idle();
    }, LINGER_MS);
  }

  #leave(): void {
    this.#run += 1;
    this.group?.delete(this);
  }

  /** Reads the head, and follows it. The first read waits for the edits of the handle. */
  begin(isFirst = false): void {
    if (this.isOver) return;
    const { hub, whenReady } = this.wanted;
    this.#leave();
    this.hasFailed = false;
    let waiting: Promise<unknown> | undefined;
    let isDone = false;
    try {
      waiting = whenReady();
      isDone = waiting === undefined && this.#beginNow(isFirst);
    } catch (cause) {
      isDone = new Tries().delayAfter(cause) === undefined;
      if (isDone) this.fail(cause);
    }
    if (!isDone) {
      if (isFirst && this.isLoaded) this.show({ ...this.state, isStale: true });
      void this.#beginLater(this.#run, waiting);
    }
    // At first there are no listeners yet, and a render may be running: other followers notify theirs in their own
    // turn.
    if (!isFirst) hub.flush();
  }

  /** Reads the head in this turn, and follows it; returns `false` if a part that it needs is not in memory. */
  #beginNow(isFirst: boolean): boolean {
    const { hub, range } = this.wanted;
    hub.from.check();
    if (!isReadable(hub.from, range, isFirst) || !this.readNow(hub.from)) return false;
    FollowerGroup.atHead(hub, this.wanted).add(this);
    return true;
  }

  async #beginLater(run: number, first: Promise<unknown> | undefined): Promise<void> {
    const { hub, range, whenReady } = this.wanted;
    const isWanted = () => run === this.#run;
    const tries = new Tries();
    let isAgain = false;
    while (isWanted()) {
      try {
        await (isAgain ? whenReady() : first);
        // Waits as a read does: for edits of the handle, and for the index.
        await hub.db.scan({ ...range, limit: 0 } as ScanOptions).toArray();
        if (isWanted() && !this.#beginNow(false)) await this.#beginAt(isWanted);
        return hub.flush();
      } catch (cause) {
        if (!isWanted()) return;
        const delay = tries.delayAfter(cause);
        if (delay === undefined) {
          this.fail(cause);
          return hub.flush();
        }
        tries.note(cause);
        await new Promise<void>((resolve) => later(resolve, delay));
        isAgain = true;
      }
    }
  }

  /** Reads a snapshot of the head, and follows the range from there. */
  async #beginAt(isWanted: () => boolean): Promise<void> {
    const { hub } = this.wanted;
    const snapshot = hub.db.snapshot();
    try {
      await new FollowerGroup(hub, this.wanted).addRead(this, async () => {
        await this.read(snapshot, isWanted);
        return isWanted();
      });
    } finally {
      snapshot.close();
    }
  }

  /** Shows that it is no longer kept up to date. */
  fail(cause: unknown): void {
    this.#leave();
    this.hasFailed = true;
    this.show({ ...this.state, status: 'error', error: cause });
  }
}
