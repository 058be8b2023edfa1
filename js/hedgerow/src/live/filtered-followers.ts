/** Followers of the rows of a range that fulfil further conditions, which each row is tested for. */

import { optionsOfPlan } from '../engine/read/scan-options.js';
import type { Snapshot } from '../store/snapshot.js';
import type { ChangeBatch } from './change-batch.js';
import { CountFollower } from './count-follower.js';
import type { FollowerSpec } from './range-follower.js';
import { RowWindowFollower } from './row-window-follower.js';
import type { LiveFilter, LiveStatus } from './types.js';

type StoredRow = readonly unknown[];

/** The test of a filter, once it is loaded. */
class RowFilter {
  readonly #filter: LiveFilter;
  #isWanted: ((stored: unknown) => boolean) | undefined;

  constructor(filter: LiveFilter) {
    this.#filter = filter;
  }

  /** Returns whether a row fulfils the conditions. A row that cannot be tested does: then its error is shown. */
  readonly #test = (stored: unknown): boolean => {
    try {
      return this.#isWanted?.(stored) ?? true;
    } catch {
      return true;
    }
  };

  /** Scans the rows of a range that fulfil the conditions, each once. */
  async *scan(snapshot: Snapshot, { range, cut, reverse }: FollowerSpec) {
    this.#isWanted ??= await this.#filter.load();
    const seen = this.#filter.isRepeated ? new Set<unknown>() : undefined;
    const whole = { offset: 0, limit: Number.MAX_SAFE_INTEGER, wait: false, signal: undefined };
    for await (const row of snapshot.scan(optionsOfPlan({ range, cut, reverse, ...whole }))) {
      const [key, value] = row as StoredRow;
      if (seen?.has(key) || !this.#test(value)) continue;
      seen?.add(key);
      yield row as StoredRow;
    }
  }

  /** Returns the changes of wanted rows; `undefined` if the range must be read again to know them. */
  changesIn(news: ChangeBatch): ChangeBatch | undefined {
    const wanted = news.filter(this.#test);
    return this.#filter.isRepeated && wanted.length > 0 ? undefined : wanted;
  }
}

/** A follower of a window on the wanted rows of a range. */
export class FilteredWindowFollower<
  Row = unknown,
  State extends LiveStatus = LiveStatus,
> extends RowWindowFollower<Row, State> {
  readonly #filter = new RowFilter(this.wanted.filter as LiveFilter);

  /** A scan of a range is no work for one turn. */
  protected override readNow(): boolean {
    return false;
  }

  protected override async *scan(snapshot: Snapshot) {
    const { offset, limit } = this.wanted;
    let at = 0;
    if (limit === 0) return;
    for await (const row of this.#filter.scan(snapshot, this.wanted)) {
      at += 1;
      if (at > offset) yield row;
      if (at - offset >= limit) return;
    }
  }

  override *apply(news: ChangeBatch): Generator<void, boolean, void> {
    const wanted = this.#filter.changesIn(news);
    return wanted === undefined ? true : yield* super.apply(wanted);
  }
}

/** A follower of the number of wanted rows of a range. */
export class FilteredCountFollower extends CountFollower {
  readonly #filter = new RowFilter(this.wanted.filter as LiveFilter);

  protected override readNow(): boolean {
    return false;
  }

  protected override async count(snapshot: Snapshot, isWanted: () => boolean): Promise<number> {
    let count = 0;
    for await (const _ of this.#filter.scan(snapshot, this.wanted)) {
      if (!isWanted()) break;
      count += 1;
    }
    return count;
  }

  override *apply(news: ChangeBatch): Generator<void, boolean, void> {
    const wanted = this.#filter.changesIn(news);
    return wanted === undefined ? true : yield* super.apply(wanted);
  }
}
