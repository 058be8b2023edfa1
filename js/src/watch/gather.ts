import { compareKeys } from '../base/key.js';
import { encodeRange, type KeyRange } from '../base/range.js';
import { turn } from '../base/scheduler.js';
import type { Host } from '../core/host.js';
import type { BranchHead, HeldHead } from '../history/branch-head.js';
import type { IndexEntry } from '../indexes/columns.js';
import { type Change, changeAt, startDiff, widthAt } from '../read/diff.js';
import { blocks } from '../read/scan.js';
import { type Interval, intervalOf, isEmpty, rangeOf } from './interval.js';
import { Matcher } from './matcher.js';

/** Where positions of changes lie that are not the keys of rows: an index. */
export interface Space {
  /** The rows that it is made from. */
  readonly rows: KeyRange;
  /** The entries of a row, none of them twice. */
  entriesOf(key: string, value: unknown): readonly IndexEntry[];
  /** Holds a head that has the index. */
  hold(): Promise<HeldHead>;
}

/** Changes between two looks at the clock, and the part of a slice that they may take. */
const CLOCK_CHANGES = 256;
const PART_OF_SLICE = 0.25;
/** A first block with more changes than this is hardly the last. */
const MANY_CHANGES = 64;
/** So many are sorted at once. */
const RUN = 2048;

/** Work that goes on beside blocks of a diff, in what they leave of their slices. */
export class Slices {
  readonly #partMs: number;
  #startMs = 0;

  constructor(sliceMs: number) {
    this.#partMs = sliceMs * PART_OF_SLICE;
  }

  /** A slice begins. */
  begin(): void {
    this.#startMs = performance.now();
  }

  /** Waits for the next slice when this one is used up. */
  async breathe(): Promise<void> {
    if (performance.now() - this.#startMs < this.#partMs) return;
    await turn();
    this.begin();
  }
}

/** An interval of rows that wants to know of their changes. */
interface Taker<Watcher> extends Interval {
  take(change: Change, touched: Set<Gathered<Watcher>>): void;
}

/** The changes in an interval, in a pass; all who watch the same one share them. */
export class Gathered<Watcher> implements Taker<Watcher> {
  readonly low: string;
  readonly high: string | undefined;
  readonly watchers = new Set<Watcher>();
  #changes: Change[] = [];
  /** Of an index: where the changes lie. */
  #positions: string[] | undefined;

  constructor({ low, high }: Interval) {
    this.low = low;
    this.high = high;
  }

  take(change: Change, touched: Set<Gathered<Watcher>>): void {
    if (this.#changes.push(change) === 1) touched.add(this);
  }

  takeAt(position: string, change: Change, touched: Set<Gathered<Watcher>>): void {
    this.#positions ??= [];
    this.#positions.push(position);
    this.take(change, touched);
  }

  /** Takes the changes away, in order. */
  async finish(slices: Slices): Promise<readonly Change[]> {
    const [changes, positions] = [this.#changes, this.#positions];
    this.drop();
    if (positions === undefined) return changes;
    const order = await sorted(positions, slices);
    return order.map((at) => changes[at] as Change);
  }

  drop(): void {
    this.#changes = [];
    this.#positions = undefined;
  }
}

/** Where `positions` stand when they are in order. */
async function sorted(positions: readonly string[], slices: Slices): Promise<number[]> {
  const compare = (a: number, b: number) =>
    compareKeys(positions[a] as string, positions[b] as string);
  let runs: number[][] = [];
  for (let at = 0; at < positions.length; at += RUN) {
    const length = Math.min(RUN, positions.length - at);
    runs.push(Array.from({ length }, (_, index) => at + index).sort(compare));
    await slices.breathe();
  }
  while (runs.length > 1) {
    const merged: number[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [left = [], right = []] = [runs[at], runs[at + 1]];
      const both: number[] = [];
      let [l, r] = [0, 0];
      while (l < left.length || r < right.length) {
        const takesLeft =
          r === right.length ||
          (l < left.length && compare(left[l] as number, right[r] as number) <= 0);
        both.push((takesLeft ? left[l++] : right[r++]) as number);
        if (both.length % RUN === 0) await slices.breathe();
      }
      merged.push(both);
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

/** The rows of an index: their changes become changes of its entries. */
class SpaceTaker<Watcher> implements Taker<Watcher> {
  readonly low: string;
  readonly high: string | undefined;
  readonly #space: Space;
  readonly #matcher: Matcher<Gathered<Watcher>>;

  constructor(space: Space, ranges: Iterable<Gathered<Watcher>>) {
    ({ low: this.low, high: this.high } = intervalOf(space.rows));
    this.#space = space;
    this.#matcher = new Matcher(ranges);
  }

  take(change: Change, touched: Set<Gathered<Watcher>>): void {
    const { key } = change;
    const space = this.#space;
    const old = 'oldValue' in change ? space.entriesOf(key, change.oldValue) : [];
    const young = 'newValue' in change ? space.entriesOf(key, change.newValue) : [];
    const tell = ({ position, secondary }: IndexEntry, told: Change) => {
      const found = this.#matcher.at(position);
      for (const range of found) range.takeAt(position, { ...told, secondary }, touched);
    };
    const gone = new Map(old.map((entry) => [entry.position, entry]));
    for (const entry of young) {
      const { newValue } = change as Change & { op: 'add' };
      tell(entry, gone.delete(entry.position) ? change : { op: 'add', key, newValue });
    }
    const { oldValue } = change as Change & { op: 'del' };
    for (const entry of gone.values()) tell(entry, { op: 'del', key, oldValue });
  }
}

/** Who watches what. */
export interface Watched {
  readonly interval: Interval;
  /** The index that is watched, if it is not the rows. */
  readonly space: Space | undefined;
}

/** One pass over the changes between two commits, handed out to the ranges that hold them. */
export class Pass<Watcher extends Watched> {
  readonly #matcher: Matcher<Taker<Watcher>>;
  /** The ranges that had changes. */
  readonly touched = new Set<Gathered<Watcher>>();

  constructor(watchers: Iterable<Watcher>) {
    const spaces = new Map<Space | undefined, Map<string, Gathered<Watcher>>>();
    for (const watcher of watchers) {
      const { interval, space } = watcher;
      if (isEmpty(interval)) continue;
      const ranges = spaces.get(space) ?? new Map<string, Gathered<Watcher>>();
      spaces.set(space, ranges);
      // No key has half of a pair, and so no bound.
      const name = `${interval.low}\ud800${interval.high ?? '\ud800'}`;
      const range = ranges.get(name) ?? new Gathered<Watcher>(interval);
      ranges.set(name, range);
      range.watchers.add(watcher);
    }
    const takers: Taker<Watcher>[] = [];
    for (const [space, ranges] of spaces) {
      if (space === undefined) takers.push(...ranges.values());
      else takers.push(new SpaceTaker(space, ranges.values()));
    }
    this.#matcher = new Matcher(takers);
  }

  /** Forgets what was gathered. */
  clear(): void {
    for (const range of this.touched) range.drop();
    this.touched.clear();
  }

  /**
   * Gathers the changes that lead from one commit to another. Both must be held. Costs the nodes
   * that they do not share, where somebody watches: what lies between ranges is left out, but for
   * a block of changes before each.
   */
  async run(
    host: Host,
    branchHead: BranchHead,
    from: Uint8Array,
    to: Uint8Array,
    slices: Slices,
    isWanted: () => boolean,
  ): Promise<void> {
    this.clear();
    const matcher = this.#matcher;
    const { low: first, high } = matcher.hull;
    let low = first;
    while (low !== undefined) {
      const range = encodeRange(rangeOf({ low, high }));
      const start = async () => ({ op: await startDiff(host, branchHead, from, to, range) });
      low = undefined;
      let isFirst = true;
      for await (const members of blocks(host, start, undefined)) {
        slices.begin();
        if (!isWanted()) return;
        let found: readonly Taker<Watcher>[] = [];
        let at = 0;
        for (let count = 1; at < members.length; count++) {
          found = matcher.at(members[at + 1] as string);
          if (found.length > 0) {
            const change = changeAt(members, at);
            for (const taker of found) taker.take(change, this.touched);
          }
          at += widthAt(members, at);
          if (count % CLOCK_CHANGES === 0) await slices.breathe();
        }
        if (found.length === 0 && (!isFirst || members.length > MANY_CHANGES)) {
          low = matcher.next;
          break;
        }
        isFirst = false;
      }
    }
  }
}
