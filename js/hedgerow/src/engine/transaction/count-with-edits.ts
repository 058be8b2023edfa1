/**
 * Numbers of rows in a transaction: the count of a range, and the row with a number. Both count stored rows, without
 * the rows that own edits hide and with the rows that own edits add.
 */

import { compareKeys } from '../../base/key.js';
import { cut, encodeRange, isInRange, type KeyRange } from '../../base/range.js';
import { deriveEntries } from '../../core/indexes/index-entries.js';
import {
  type EntryCut,
  type IndexRange,
  positionOf,
  positionsOf,
  type SecondaryKey,
} from '../../core/indexes/index-range.js';
import { isOfIndex } from '../../core/indexes/index-set.js';
import type { CountPlan } from '../read/count-options.js';
import { findMany } from '../read/find-many.js';
import { KeyParts } from '../read/key-batches.js';
import { type AtPlan, atOf, oneOf } from '../read/rank-options.js';
import { side } from '../read/scan-options.js';
import { readBack } from './edits.js';
import { ownEntries, readyIndex } from './index-scan.js';
import type { Sources } from './merged-scan.js';
import { areStored, countEncoded } from './read-set.js';

/** A row, or an entry with its secondary key, in the form of `at`. */
type Row = readonly unknown[];

/** The effect of own edits at one key, or at one position in an index. */
interface EditEffect {
  readonly key: string;
  /** Reads the row, or the entry, that the edits put there. */
  readonly adds?: (() => Row) | undefined;
  /** Whether the edits hide a stored row or entry there. */
  readonly hides: boolean;
}

/** A range, and the effects of own edits in it. */
interface EditedRange {
  /** The range, of keys or of positions. */
  readonly keys: KeyRange;
  /** The effects, in the order of the range. */
  readonly edited: readonly EditEffect[];
  keyOf(row: Row): string;
  /** Counts the stored rows, or entries, in a part of the range. */
  count(part: KeyRange): Promise<number>;
  /** Records the count that the transaction found in a part of the range. */
  record(part: KeyRange, counted: number): void;
}

/** Counts the rows in a range, or the entries in a range of an index. */
export async function countIn(sources: Sources, { range, cut }: CountPlan): Promise<number> {
  return countAll(sources, await inOrder(sources, range, cut, false));
}

/** Finds the row, or the entry of an index, with a number; `undefined` past the last one. */
export async function rowAt(sources: Sources, plan: AtPlan): Promise<Row | undefined> {
  const { host, edits, reads } = sources;
  const { n, reverse, range } = plan;
  const ordered = await inOrder(sources, range, plan.cut, reverse);
  const before = (key: string) => cut(ordered.keys, key, side(reverse, false));
  const place = await placeOf(ordered.edited, n, (key) => ordered.count(before(key)));
  const { engine, indexes } = host;
  const row =
    typeof place === 'number'
      ? await host.read(
          atOf(engine, sources.view, indexes.encode(range), { ...plan, n: place }),
          () => oneOf(engine),
        )
      : place();
  // Throws if the transaction has ended during the read.
  sources.view;
  if (row === undefined) {
    await countAll(sources, ordered);
    return undefined;
  }
  ordered.record(before(ordered.keyOf(row)), n);
  const key = row[0] as string;
  if (edits.get(key) === undefined) reads.value(key);
  return row;
}

async function countAll(sources: Sources, { keys, edited, count, record }: EditedRange) {
  const counted = edited.reduce((sum, edit) => sum + shiftOf(edit), await count(keys));
  // Throws if the transaction has ended during the count.
  sources.view;
  record(keys, counted);
  return counted;
}

/** Returns the change that an edit makes to the numbers of the rows after it. */
function shiftOf({ adds, hides }: EditEffect): number {
  return (adds ? 1 : 0) - (hides ? 1 : 0);
}

/** Returns the row that own edits put at number `n`; or else its number among the stored rows. */
async function placeOf(
  edited: readonly EditEffect[],
  n: number,
  countBefore: (key: string) => Promise<number>,
): Promise<number | (() => Row)> {
  const shifts = [0];
  for (const [at, edit] of edited.entries()) shifts.push((shifts[at] as number) + shiftOf(edit));
  // Find the first edit whose row comes after number `n`.
  let [low, high] = [0, edited.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { key, adds } = edited[middle] as EditEffect;
    const number = (await countBefore(key)) + (shifts[middle] as number);
    if (number === n && adds) return adds;
    if (number > n) high = middle;
    else low = middle + 1;
  }
  return n - (shifts[low] as number);
}

function inOrder(
  sources: Sources,
  range: KeyRange | IndexRange,
  cut: EntryCut | undefined,
  reverse: boolean,
): Promise<EditedRange> {
  return isOfIndex(range)
    ? entriesInOrder(sources, range, cut, reverse)
    : rowsInOrder(sources, range, reverse);
}

async function rowsInOrder(
  { host, view, edits, reads }: Sources,
  range: KeyRange,
  reverse: boolean,
): Promise<EditedRange> {
  // Throws for a malformed range before its first use.
  encodeRange(range);
  const own = edits.in(range, reverse);
  const keys = own.map(({ key }) => key);
  const stored = await areStored(host, view, keys);
  const edited = own.map((edit, at): EditEffect => {
    const adds = edit.value === undefined ? undefined : (): Row => [edit.key, readBack(edit)];
    return { key: edit.key, adds, hides: stored[at] === true };
  });
  return {
    keys: range,
    edited,
    keyOf: ([key]) => key as string,
    count: (part) => countEncoded(host, view, encodeRange(part)),
    record(part, counted) {
      const within = edited.filter(({ key }) => isInRange(key, part));
      const added = within.filter(({ adds }) => adds).length;
      reads.count({ range: part, own: within.map(({ key }) => key), others: counted - added });
    },
  };
}

async function entriesInOrder(
  sources: Sources,
  wanted: IndexRange,
  cut: EntryCut | undefined,
  reverse: boolean,
): Promise<EditedRange> {
  const { host, view, edits, reads } = sources;
  const index = readyIndex(sources, wanted);
  const range = positionsOf(index, wanted, cut);
  const edited = new Map<string, EditEffect>();
  const own = ownEntries(sources, index, range, reverse);
  const keys = edits.in({ prefix: index.prefix }).map(({ key }) => key);
  const before = edits.size;
  const check = () => void sources.view;
  const values = keys.length > 0 ? await findMany(host, view, new KeyParts(keys), check) : [];
  for (const { position, key, value, secondary } of own) {
    const adds = (): Row => [key, value, secondary];
    edited.set(position, { key: position, adds, hides: false });
  }
  for (const [at, key] of keys.entries()) {
    for (const { position } of deriveEntries(index, key, values[at])) {
      if (!isInRange(position, range)) continue;
      edited.set(position, { key: position, adds: edited.get(position)?.adds, hides: true });
    }
  }
  const sign = reverse ? -1 : 1;
  return {
    keys: range,
    edited: [...edited.values()].sort((a, b) => sign * compareKeys(a.key, b.key)),
    keyOf: ([key, , secondary]) => positionOf(index, secondary as SecondaryKey, key as string),
    count: (part) => countEncoded(host, view, host.indexes.encodePositions(index, part)),
    record: (part) =>
      reads.index({
        index,
        range: part,
        reverse: false,
        keysOnly: true,
        edited: before,
        ended: true,
      }),
  };
}
