import { UNLIMITED } from '../engine/read/scan-options.js';
import { type ChangeBatch, split } from './change-batch.js';

/** A row, or an entry of an index, in its place. */
export interface PositionedEntry {
  readonly position: string;
}

/** A follower as its group knows it. */
export interface Member {
  readonly wanted: {
    readonly reverse: boolean;
    readonly offset: number;
    readonly limit: number;
    readonly filter?: object | undefined;
  };
  /** The rows from `offset` on, at most `limit`, in its order. */
  readonly entries: readonly PositionedEntry[];
  /** The group that it is in. */
  group: { delete(member: Member): void } | undefined;
  /** Applies changes; returns whether it must be read again instead. Yields in between. */
  apply(news: ChangeBatch): Generator<void, boolean, void>;
  begin(): void;
  fail(cause: unknown): void;
}

/**
 * The windows on a range in one direction, all at the same commit, ordered by offset: that is also the order of their
 * first rows. A binary search finds the windows that changes may affect.
 */
export class WindowList {
  readonly #windows: Member[] = [];
  /** For each window, the window up to it that reaches furthest. */
  #furthest: Member[] | undefined;
  /** Windows that all changes may affect: lists without a limit, filtered ones, and counts. */
  readonly #whole = new Set<Member>();

  add(member: Member): void {
    const { offset, limit, filter } = member.wanted;
    // The places of a filtered window do not count the rows of the range.
    if (limit === 0 || limit === UNLIMITED || filter !== undefined) {
      this.#whole.add(member);
      return;
    }
    const windows = this.#windows;
    const isBefore = (at: number) => (windows[at] as Member).wanted.offset <= offset;
    windows.splice(split(windows.length, isBefore), 0, member);
    this.#furthest = undefined;
  }

  delete(member: Member): void {
    if (this.#whole.delete(member)) return;
    const at = this.#windows.indexOf(member);
    if (at < 0) return;
    this.#windows.splice(at, 1);
    this.#furthest = undefined;
  }

  get isEmpty(): boolean {
    return this.#windows.length + this.#whole.size === 0;
  }

  /** Finds the members that changes may affect. */
  near(news: ChangeBatch): Iterable<Member> {
    const windows = this.#windows;
    if (news.length > windows.length) return [...this.#whole, ...windows];
    this.#furthest ??= measureReach(windows);
    const found = new Set(this.#whole);
    let from = 0;
    for (let at = 0; at < news.length; at++) {
      const position = news.at(at);
      const isBefore = (index: number) => beginsBefore(windows[index] as Member, position, news);
      let end = split(windows.length, isBefore, from);
      // Windows that begin between the previous change and this one are shifted.
      for (; from < end; from++) if (news.net(at) !== 0) found.add(windows[from] as Member);
      while (end-- > 0 && reaches(this.#furthest[end] as Member, position, news)) {
        const window = windows[end] as Member;
        if (reaches(window, position, news)) found.add(window);
      }
    }
    if (news.net() !== 0) for (const window of windows.slice(from)) found.add(window);
    return found;
  }
}

/** Returns whether a window begins at a position or before it. An empty one begins behind all rows. */
function beginsBefore(
  { wanted, entries: [first] }: Member,
  position: string,
  news: ChangeBatch,
): boolean {
  return (
    wanted.offset === 0 || (first !== undefined && news.compare(first.position, position) <= 0)
  );
}

/**
 * Returns whether a window ends at a position or behind it. A window that is not full reaches to the end of the range.
 */
function reaches({ entries, wanted }: Member, position: string, news: ChangeBatch): boolean {
  const last = entries[wanted.limit - 1];
  return last === undefined || news.compare(last.position, position) >= 0;
}

function measureReach(windows: readonly Member[]): Member[] {
  const endOf = ({ wanted: { offset, limit } }: Member) => offset + limit;
  let furthest = windows[0] as Member;
  return windows.map((window) => {
    if (endOf(window) > endOf(furthest)) furthest = window;
    return furthest;
  });
}
