import { freezeShared } from '../../base/freeze-shared.js';
import { compareKeys } from '../../base/key.js';
import { encodeRange, type KeyRange } from '../../base/range.js';
import type { Slicer } from '../../base/slicer.js';
import type { IndexEntry } from '../../core/indexes/index-entries.js';
import type { Host } from '../../core/operation-host.js';
import type { BranchHead, HeldHead } from '../history/branch-head.js';
import { type Change, changeAt, startDiff, widthAt } from '../read/decode-diff.js';
import { blocks } from '../read/scan.js';
import { IntervalTree } from './interval-tree.js';
import { type Interval, intervalOf, intervalToRange, isEmpty } from './key-interval.js';

/** An ordered space of positions other than the keys of rows: an index. */
export interface Space {
  /** The rows that the index is made from. */
  readonly rows: KeyRange;
  /** Returns the entries of a row, without duplicates. */
  entriesOf(key: string, value: unknown): readonly IndexEntry[];
  /** Holds a head that has the index. */
  hold(): Promise<HeldHead>;
}

/** Changes between two reads of the clock. */
const CLOCK_CHANGES = 256;
/** After a first block with more members than this, a jump to the next watched range is worth a new diff. */
const MANY_CHANGES = 64;
/** The number of positions that are sorted without a break. */
const RUN = 2048;

/** The intervals of a pass that had changes. */
interface PassProgress<Watcher> {
  readonly touched: Set<ChangeGatherer<Watcher>>;
  /** Whether an interval has more changes than its watchers want. */
  hasFull: boolean;
}

/** An interval of rows that receives their changes. */
export interface Taker<Watcher> extends Interval {
  /** Whether it needs no more changes. */
  readonly isFull: boolean;
  take(change: Change, pass: PassProgress<Watcher>): void;
}

/**
 * The changes of one interval in a pass, in their order. Watchers of the same interval share it. It drops them
 * once there are more than the watchers want.
 */
class ChangeGatherer<Watcher> implements Taker<Watcher> {
  readonly low: string;
  readonly high: string | undefined;
  readonly watchers = new Set<Watcher>();
  #changes: Change[] = [];
  /** Of an index, the position of each change. */
  #positions: string[] | undefined;
  #most = 0;
  isFull = false;

  constructor({ low, high }: Interval) {
    this.low = low;
    this.high = high;
  }

  /** Begins a pass, of which it gathers at most so many changes. */
  begin(most: number): void {
    this.#most = most;
    this.isFull = false;
  }

  take(change: Change, pass: PassProgress<Watcher>): void {
    if (this.isFull) return;
    const count = this.#changes.push(freezeShared(change));
    if (count === 1) pass.touched.add(this);
    if (count <= this.#most) return;
    this.drop();
    this.isFull = true;
    pass.hasFull = true;
  }

  /** Takes the change of an entry of an index. */
  takeAt(position: string, change: Change, pass: PassProgress<Watcher>): void {
    this.#positions ??= [];
    this.#positions.push(position);
    this.take(change, pass);
  }

  /** Returns and forgets the changes, or `undefined` if there were too many. Watchers do not receive an empty array. */
  async finish(slicer: Slicer): Promise<readonly Change[] | undefined> {
    const [changes, positions] = [this.#changes, this.#positions];
    this.drop();
    if (this.isFull) return undefined;
    if (positions === undefined) return freezeShared(changes);
    const order = await sorted(positions, slicer);
    return freezeShared(order.map((at) => changes[at] as Change));
  }

  drop(): void {
    this.#changes = [];
    this.#positions = undefined;
  }
}

/** Returns the indices of `positions` in the order of the positions: a merge sort in slices. */
function sorted(positions: readonly string[], slicer: Slicer): Promise<number[]> {
  const compare = (a = 0, b = 0) => compareKeys(positions[a] as string, positions[b] as string);
  const part = async (from: number, to: number): Promise<number[]> => {
    if (slicer.step()) await slicer.rest();
    if (to - from <= RUN) {
      return Array.from({ length: to - from }, (_, index) => from + index).sort(compare);
    }
    const middle = (from + to) >> 1;
    const [left, right] = [await part(from, middle), await part(middle, to)];
    const both: number[] = [];
    for (let [l, r] = [0, 0]; both.length < to - from; ) {
      const isLeft = r === right.length || (l < left.length && compare(left[l], right[r]) <= 0);
      both.push((isLeft ? left[l++] : right[r++]) as number);
      if (both.length % RUN === 0 && slicer.step()) await slicer.rest();
    }
    return both;
  };
  return part(0, positions.length);
}

/** The rows of an index. Turns changes of rows into changes of entries. */
class SpaceTaker<Watcher> implements Taker<Watcher> {
  readonly low: string;
  readonly high: string | undefined;
  readonly #space: Space;
  readonly #ranges: readonly ChangeGatherer<Watcher>[];
  readonly #matcher: IntervalTree<ChangeGatherer<Watcher>>;

  constructor(space: Space, ranges: Iterable<ChangeGatherer<Watcher>>) {
    ({ low: this.low, high: this.high } = intervalOf(space.rows));
    this.#space = space;
    this.#ranges = [...ranges];
    this.#matcher = new IntervalTree(this.#ranges);
  }

  get isFull(): boolean {
    return this.#ranges.every(({ isFull }) => isFull);
  }

  take(change: Change, pass: PassProgress<Watcher>): void {
    const { key } = change;
    const space = this.#space;
    const oldEntries = 'oldValue' in change ? space.entriesOf(key, change.oldValue) : [];
    const newEntries = 'newValue' in change ? space.entriesOf(key, change.newValue) : [];
    const add = ({ position, secondary }: IndexEntry, entryChange: Change) => {
      const found = this.#matcher.at(position);
      for (const range of found) range.takeAt(position, { ...entryChange, secondary }, pass);
    };
    const removed = new Map(oldEntries.map((entry) => [entry.position, entry]));
    for (const entry of newEntries) {
      const { newValue } = change as Change & { op: 'insert' };
      add(entry, removed.delete(entry.position) ? change : { op: 'insert', key, newValue });
    }
    const { oldValue } = change as Change & { op: 'delete' };
    for (const entry of removed.values()) add(entry, { op: 'delete', key, oldValue });
  }
}

/** The subject of a watch. */
export interface WatchSubject {
  readonly interval: Interval;
  /** The watched index; `undefined` for a watch of rows. */
  readonly space: Space | undefined;
  /** Most changes that are worth a call: see `MOST_CHANGES`. */
  readonly mostChanges?: (() => number) | undefined;
}

/** Returns most changes that any of the watchers of an interval wants. */
function mostOf<Watcher extends WatchSubject>(watchers: Iterable<Watcher>): number {
  let most = 0;
  for (const { mostChanges } of watchers) {
    if (mostChanges === undefined) return Number.POSITIVE_INFINITY;
    most = Math.max(most, mostChanges());
  }
  return most;
}

/** One pass over the changes between two commits. Gives each change to the ranges that contain it. */
export class Pass<Watcher extends WatchSubject> implements PassProgress<Watcher> {
  readonly #takers: Taker<Watcher>[] = [];
  readonly #ranges: ChangeGatherer<Watcher>[] = [];
  readonly #matcher: IntervalTree<Taker<Watcher>>;
  /** The ranges that had changes. */
  readonly touched = new Set<ChangeGatherer<Watcher>>();
  hasFull = false;

  constructor(watchers: Iterable<Watcher>) {
    const spaces = new Map<Space | undefined, Map<string, ChangeGatherer<Watcher>>>();
    for (const watcher of watchers) {
      const { interval, space } = watcher;
      if (isEmpty(interval)) continue;
      const ranges = spaces.get(space) ?? new Map<string, ChangeGatherer<Watcher>>();
      spaces.set(space, ranges);
      // A lone surrogate separates the bounds: no key, and so no bound, contains one.
      const name = `${interval.low}\ud800${interval.high ?? '\ud800'}`;
      const range = ranges.get(name) ?? new ChangeGatherer<Watcher>(interval);
      ranges.set(name, range);
      range.watchers.add(watcher);
    }
    for (const [space, ranges] of spaces) {
      this.#ranges.push(...ranges.values());
      if (space === undefined) this.#takers.push(...ranges.values());
      else this.#takers.push(new SpaceTaker(space, ranges.values()));
    }
    this.#matcher = new IntervalTree(this.#takers);
  }

  /** Drops all gathered changes. */
  clear(): void {
    for (const range of this.touched) range.drop();
    this.touched.clear();
    this.hasFull = false;
  }

  /**
   * Gathers the changes from one commit to another. The caller must hold both. Reads the nodes in watched ranges that
   * the commits do not share. Skips the gaps between ranges, except for about a block of changes in each, and ranges
   * with more changes than their watchers want. Stops when `isWanted` returns `false`.
   */
  async run(
    host: Host,
    branchHead: BranchHead,
    from: Uint8Array,
    to: Uint8Array,
    slicer: Slicer,
    isWanted: () => boolean,
  ): Promise<void> {
    this.clear();
    for (const range of this.#ranges) range.begin(mostOf(range.watchers));
    let matcher = this.#matcher;
    const { low: first, high } = matcher.hull;
    let low = first;
    while (low !== undefined) {
      const range = encodeRange(intervalToRange({ low, high }));
      const start = async () => ({ op: await startDiff(host, branchHead, from, to, range) });
      low = undefined;
      let isFirst = true;
      for await (const members of blocks(host, start, undefined)) {
        slicer.begin();
        if (!isWanted()) return;
        let found: readonly Taker<Watcher>[] = [];
        let at = 0;
        let key = '';
        for (let count = 1; at < members.length; count++) {
          key = members[at + 1] as string;
          found = matcher.at(key);
          if (found.length > 0) {
            const change = changeAt(members, at);
            for (const taker of found) taker.take(change, this);
          }
          at += widthAt(members, at);
          if (count % CLOCK_CHANGES === 0 && slicer.step()) await slicer.rest();
        }
        if (this.hasFull) {
          this.hasFull = false;
          const open = this.#takers.filter(({ isFull }) => !isFull);
          if (open.length === 0) return;
          matcher = new IntervalTree(open);
          found = matcher.at(key);
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
