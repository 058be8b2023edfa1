import type { ReadContext } from '../engine/read/context.js';
import type { Snapshot } from '../index.js';
import { Follower, type Wanted } from './follower.js';
import type { News } from './news.js';
import { now } from './now.js';
import type { LiveCountState } from './types.js';

/** Keeps the number of the rows of a range up to date. Reads no row. */
export class CountFollower extends Follower<LiveCountState> {
  readonly entries = [];

  constructor(wanted: Wanted) {
    super(wanted, { status: 'loading', count: undefined, isStale: false, error: undefined });
  }

  protected override readNow({ host: { engine, indexes, reads }, head }: ReadContext): boolean {
    const op = reads.count(engine, head.view, indexes.encode(this.wanted.range));
    const count = now(engine, op, () => reads.counted(engine));
    if (count === undefined) return false;
    this.#show(count);
    return true;
  }

  protected override async read(snapshot: Snapshot, isWanted: () => boolean): Promise<void> {
    const count = await snapshot.count(this.wanted.range);
    if (isWanted()) this.#show(count);
  }

  // biome-ignore lint/correctness/useYield: it never takes long
  override *apply(news: News): Generator<void, boolean, void> {
    this.#show((this.state.count ?? 0) + news.net());
    return false;
  }

  #show(count: number): void {
    this.isLoaded = true;
    this.show({ status: 'ready', count, isStale: false, error: undefined });
  }
}
