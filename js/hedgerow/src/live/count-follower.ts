import type { ReadContext } from '../engine/read/context.js';
import type { Snapshot } from '../store/snapshot.js';
import type { ChangeBatch } from './change-batch.js';
import { Follower, type FollowerSpec } from './range-follower.js';
import { answerNow } from './read-synchronously.js';
import type { LiveCountState } from './types.js';

/** A follower that keeps the number of rows in a range up to date. It reads no rows. */
export class CountFollower extends Follower<LiveCountState> {
  readonly entries = [];

  constructor(wanted: FollowerSpec) {
    super(wanted, { status: 'loading', count: undefined, isStale: false, error: undefined });
  }

  protected override readNow({ host: { indexes, reads }, head }: ReadContext): boolean {
    const { engine } = head.host;
    const op = reads.count(engine, head.view, indexes.encode(this.wanted.range));
    const count = answerNow(engine, op, () => reads.counted(engine));
    if (count === undefined) return false;
    this.#show(count);
    return true;
  }

  protected override async read(snapshot: Snapshot, isWanted: () => boolean): Promise<void> {
    const count = await this.count(snapshot, isWanted);
    if (isWanted()) this.#show(count);
  }

  /** Counts the rows in a snapshot. */
  protected count(snapshot: Snapshot, _isWanted: () => boolean): Promise<number> {
    return snapshot.count(this.wanted.range);
  }

  // biome-ignore lint/correctness/useYield: it never takes long
  override *apply(news: ChangeBatch): Generator<void, boolean, void> {
    this.#show((this.state.count ?? 0) + news.net());
    return false;
  }

  #show(count: number): void {
    this.isLoaded = true;
    this.show({ status: 'ready', count, isStale: false, error: undefined });
  }
}
