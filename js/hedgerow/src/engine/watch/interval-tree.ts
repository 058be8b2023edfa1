/** Finds, among many intervals, all that contain a position. */
import { compareKeys } from '../../base/key.js';
import type { Interval } from './key-interval.js';

const NONE: readonly never[] = [];

/**
 * Finds the intervals around a position. The bounds of all intervals cut the ordered strings into stretches. An
 * interval tree finds the intervals that cover a stretch: a sorted array whose middle is the top of the tree, and each
 * node knows how far its subtree reaches. A position in the stretch of the last one costs one or two comparisons; any
 * other costs O(log n), and a step for each interval found.
 */
export class IntervalTree<Target extends Interval> {
  /** All bounds, ascending. Stretch `i` begins at cut `i` and ends before the next. */
  readonly #cuts: string[];
  /** Ordered by their lower bounds. */
  readonly #targets: Target[];
  /** The first stretch of each target, and the stretch after its last. */
  readonly #firsts: number[];
  readonly #ends: number[];
  /** The largest of `#ends` in the subtree of each target. */
  readonly #reach: number[];
  #stretch = -1;
  #found: readonly Target[] = NONE;

  /** No interval may be empty. */
  constructor(targets: Iterable<Target>) {
    const all = [...targets];
    const bounds = new Set<string>();
    for (const { low, high } of all) {
      bounds.add(low);
      if (high !== undefined) bounds.add(high);
    }
    this.#cuts = [...bounds].sort(compareKeys);
    const places = new Map(this.#cuts.map((cut, place) => [cut, place]));
    const first = ({ low }: Interval) => places.get(low) as number;
    this.#targets = all.sort((a, b) => first(a) - first(b));
    this.#firsts = all.map(first);
    this.#ends = all.map(({ high }) => (high === undefined ? Infinity : (places.get(high) ?? 0)));
    this.#reach = new Array(all.length);
    this.#measure(0, all.length);
  }

  #measure(from: number, to: number): number {
    if (from === to) return 0;
    const middle = (from + to) >> 1;
    const below = Math.max(this.#measure(from, middle), this.#measure(middle + 1, to));
    const reach = Math.max(below, this.#ends[middle] as number);
    this.#reach[middle] = reach;
    return reach;
  }

  /** The smallest interval that contains all targets. */
  get hull(): { low: string | undefined; high: string | undefined } {
    const isBounded = this.#reach[this.#targets.length >> 1] !== Infinity;
    return { low: this.#cuts[0], high: isBounded ? this.#cuts[this.#cuts.length - 1] : undefined };
  }

  /** Returns the intervals that contain `position`. */
  at(position: string): readonly Target[] {
    if (!this.#isInStretch(position)) {
      this.#stretch = this.#stretchOf(position);
      const found: Target[] = [];
      this.#find(0, this.#targets.length, found);
      this.#found = found;
    }
    return this.#found;
  }

  /** The start of the next interval, if one follows, after a position in no interval. */
  get next(): string | undefined {
    return this.#cuts[this.#stretch + 1];
  }

  #isInStretch(position: string): boolean {
    const [start, end] = [this.#cuts[this.#stretch], this.#cuts[this.#stretch + 1]];
    if (start === undefined || compareKeys(position, start) < 0) return false;
    return end === undefined || compareKeys(position, end) < 0;
  }

  #stretchOf(position: string): number {
    let [from, to] = [0, this.#cuts.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (compareKeys(position, this.#cuts[middle] as string) < 0) to = middle;
      else from = middle + 1;
    }
    return from - 1;
  }

  #find(from: number, to: number, found: Target[]): void {
    if (from === to) return;
    const middle = (from + to) >> 1;
    if ((this.#reach[middle] as number) <= this.#stretch) return;
    this.#find(from, middle, found);
    if ((this.#firsts[middle] as number) > this.#stretch) return;
    if ((this.#ends[middle] as number) > this.#stretch) found.push(this.#targets[middle] as Target);
    this.#find(middle + 1, to, found);
  }
}
