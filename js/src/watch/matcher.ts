/** Finds the intervals that hold a position, among many. */
import { compareKeys } from '../base/key.js';
import type { Interval } from './interval.js';

const NONE: readonly never[] = [];

/**
 * The bounds of all intervals cut the line of strings into stretches; which intervals cover a
 * stretch is told by a tree of them, the middle of the sorted list being its top, that knows for
 * each subtree how far it reaches. Ascending positions in one stretch cost one comparison each,
 * others O(log n), and one step for each interval found.
 */
export class Matcher<Target extends Interval> {
  /** All bounds, ascending: stretch `i` goes from cut `i` to before the next. */
  readonly #cuts: string[];
  /** By where they begin. */
  readonly #targets: Target[];
  /** The first stretch of each target, and the one after its last. */
  readonly #firsts: number[];
  readonly #ends: number[];
  /** As `#ends`, the largest in the subtree. */
  readonly #reach: number[];
  #stretch = -1;
  #found: readonly Target[] = NONE;

  /** Takes intervals of which none is empty. */
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

  /** From where the first one begins to where the last one ends. */
  get hull(): { low: string | undefined; high: string | undefined } {
    const isBounded = this.#reach[this.#targets.length >> 1] !== Infinity;
    return { low: this.#cuts[0], high: isBounded ? this.#cuts[this.#cuts.length - 1] : undefined };
  }

  /** The intervals that hold `position`. The list is good until the next call. */
  at(position: string): readonly Target[] {
    if (!this.#isInStretch(position)) {
      this.#stretch = this.#stretchOf(position);
      const found: Target[] = [];
      this.#find(0, this.#targets.length, found);
      this.#found = found;
    }
    return this.#found;
  }

  /** When the last position was in no interval: where the next one begins, if any does. */
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
