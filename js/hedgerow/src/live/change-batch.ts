/** The changes of a range, with their positions in it. */

import { compareKeys } from '../base/key.js';
import type { KeyRange } from '../base/range.js';
import {
  type EntryCut,
  type IndexRange,
  positionOf,
  type SecondaryKey,
} from '../core/indexes/index-range.js';
import { type IndexSet, isOfIndex } from '../core/indexes/index-set.js';
import type { Change } from '../engine/read/decode-diff.js';

/** The positions of rows, or of index entries, in their order, as texts. */
export interface RangePlaces {
  positionOf(key: string, secondary: unknown): string;
  /** Returns whether a position of the watched range is in the followed range. If absent, all of them are. */
  isIn?(position: string): boolean;
}

/** A range that is followed; of an index, it may be on one side of a position. */
export interface FollowedRange {
  readonly range: KeyRange | IndexRange;
  readonly cut?: EntryCut | undefined;
  /** Equal for equal ranges. */
  readonly rangeName: string;
  readonly places: RangePlaces;
}

/** Returns the places of a range. Throws `invalid-argument` if it is malformed. */
export function placesOf(
  indexes: IndexSet,
  range: KeyRange | IndexRange,
  cut: EntryCut | undefined,
): RangePlaces {
  indexes.encode(range, cut);
  if (!isOfIndex(range)) return { positionOf: (key) => key };
  const index = indexes.get(range.index);
  const toEntryPosition = (key: string, secondary: unknown) =>
    positionOf(index, secondary as SecondaryKey, key);
  if (cut === undefined) return { positionOf: toEntryPosition };
  const border = toEntryPosition(cut.at[1], cut.at[0]);
  const sign = cut.side === 'above' ? 1 : -1;
  return {
    positionOf: toEntryPosition,
    isIn: (position) => sign * compareKeys(position, border) > 0,
  };
}

/** The changes of a range between two commits, in the order of the windows that they may concern. */
export class ChangeBatch {
  readonly changes: readonly Change[];
  readonly #sign: 1 | -1;
  readonly #places: RangePlaces;
  readonly #positions: string[] = [];
  /** The number of rows added after so many of the changes, less the number deleted. */
  readonly #net: Int32Array;

  /** Takes changes in the order of the windows; `sign` is -1 if that is the descending one. */
  constructor(changes: readonly Change[], sign: 1 | -1, places: RangePlaces) {
    this.changes = changes;
    this.#sign = sign;
    this.#places = places;
    this.#net = new Int32Array(changes.length + 1);
    let net = 0;
    for (let at = 0; at < changes.length; at++) {
      const { op } = this.changes[at] as Change;
      if (op !== 'update') net += op === 'insert' ? 1 : -1;
      this.#net[at + 1] = net;
    }
  }

  /** Returns the changes of the rows that fulfil a test: a row that begins to fulfil it is inserted. */
  filter(isWanted: (stored: unknown) => boolean): ChangeBatch {
    const changes = this.changes.flatMap((change): Change[] => {
      const [was, is] = [
        change.op !== 'insert' && isWanted(change.oldValue),
        change.op !== 'delete' && isWanted(change.newValue),
      ];
      if (!was) return is ? [{ ...change, op: 'insert' } as Change] : [];
      return [is ? change : ({ ...change, op: 'delete' } as Change)];
    });
    return new ChangeBatch(changes, this.#sign, this.#places);
  }

  get length(): number {
    return this.changes.length;
  }

  /** Returns how many more rows there are after the first `count` changes. */
  net(count = this.length): number {
    return this.#net[count] as number;
  }

  /** Compares positions in the order of the changes. */
  compare(a: string, b: string): number {
    return this.#sign * compareKeys(a, b);
  }

  /** Returns the position of a change. */
  at(index: number): string {
    const { key, secondary } = this.changes[index] as Change;
    this.#positions[index] ??= this.#places.positionOf(key, secondary);
    return this.#positions[index] as string;
  }

  /** Returns the number of changes before a position; with `isAfter`, also counts changes at it. */
  before(position: string, isAfter: boolean): number {
    return split(this.length, (at) => this.compare(this.at(at), position) < Number(isAfter));
  }
}

/**
 * Finds the first of `count` numbers, from `from` on, for which `isBefore` is false; it must be false for all later
 * ones.
 */
export function split(count: number, isBefore: (at: number) => boolean, from = 0): number {
  let [low, high] = [from, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
