/** Computes the positions of ranges of an index, and the entries of rows, as the core does. */

import { part } from '../../base/dynamic-import.js';
import { HedgerowError } from '../../base/errors.js';
import type { Exactly } from '../../base/exhaustive-members-type.js';
import { memberAt } from '../../base/json-pointer.js';
import { checkKey, compareKeys, utf8Length } from '../../base/key.js';
import {
  FREE_ROW_ENTRIES_BYTES,
  MAX_KEY_BYTES,
  MAX_ROW_ENTRIES_BYTES,
  ROW_ENTRIES_FACTOR,
} from '../../base/limits.js';
import { buildKeyRange, checkBounds, cut, type KeyRange } from '../../base/range.js';
import { kindOf } from '../../base/runtime-type-checks.js';
import type { Index } from './definition.js';
import { after, encodeScalar, type Scalar, Tag } from './scalar.js';
import type { wordsOf } from './words.js';

/** The key of an index entry: a scalar, or an array with one for each column. */
export type SecondaryKey = Scalar | readonly Scalar[];

/** A range of an index. */
export interface IndexRange {
  /** The name of the index. */
  readonly index: string;
  /**
   * Rows with this secondary key. Of several columns, the first ones are enough: then `prefix` and bounds apply to the
   * columns after them.
   */
  readonly equals?: SecondaryKey;
  /** Rows whose secondary key (its first column) is a string that starts with this. */
  readonly prefix?: string;
  /**
   * A bound. A range with one bound includes only values of the type of that bound. A bound with fewer columns than the
   * index stands for all keys that start with these columns.
   */
  readonly gt?: SecondaryKey;
  readonly gte?: SecondaryKey;
  readonly lt?: SecondaryKey;
  readonly lte?: SecondaryKey;
}

/** The place of an entry in its index: its secondary key, with all columns, and the key of its row. */
export type EntryPosition = readonly [secondary: SecondaryKey, key: string];

/** The entries on one side of a position. */
export interface EntryCut {
  readonly at: EntryPosition;
  readonly side: 'above' | 'below';
}

/** Checks the position of a cut. Throws `invalid-argument`. */
export function entryCut(call: string, at: EntryPosition, side: EntryCut['side']): EntryCut {
  if (Array.isArray(at) && at.length === 2) return { at: [at[0], at[1]], side };
  const message = `${call}: a position in an index is [secondary, key], not ${kindOf(at)}`;
  throw new HedgerowError('invalid-argument', message);
}

/** An entry of an index. */
export interface IndexEntry {
  /** The key of the entry in its tree: the encoded secondary key and the key of the row. */
  readonly position: string;
  readonly secondary: SecondaryKey;
}

/** Encodes the columns of a key, which come after the first `skipped` columns of the index. */
function encodeKey(index: Index, key: SecondaryKey, skipped = 0): string {
  const scalars = Array.isArray(key) ? key : [key];
  const columns = index.columns.length - skipped;
  if (scalars.length === 0 || scalars.length > columns) {
    const message = `${index.name} has ${columns} columns${skipped ? ' after equals' : ''}`;
    throw new HedgerowError('invalid-argument', message);
  }
  const encoded = scalars.map((scalar: unknown) => {
    const text = encodeMember(index, scalar);
    if (text !== undefined) return text;
    const remedy = scalar === null ? ' without nulls in its definition' : '';
    const message = `${index.name} has no key that is ${kindOf(scalar)}${remedy}`;
    throw new HedgerowError('invalid-argument', message);
  });
  return encoded.join('');
}

function encodeMember({ nulls }: Index, member: unknown): string | undefined {
  return nulls && member === null ? Tag.null : encodeScalar(member);
}

/** Encodes the position of the entry of a row. Throws `invalid-argument`. */
export function positionOf(index: Index, secondary: SecondaryKey, key: string): string {
  return encodeKey(index, secondary) + key;
}

/** Encodes the position that a caller names. With fewer columns it would be the position of no entry. */
function namedPosition(index: Index, [secondary, key]: EntryPosition): string {
  checkKey(key);
  const columns = Array.isArray(secondary) ? secondary.length : 1;
  if (columns === index.columns.length) return positionOf(index, secondary, key);
  const message = `a position in ${index.name} has ${index.columns.length} columns, not ${columns}`;
  throw new HedgerowError('invalid-argument', message);
}

/** Returns the positions of a range of an index, on one side of the `wanted` cut. Throws `invalid-argument`. */
export function positionsOf(index: Index, range: IndexRange, wanted?: EntryCut): KeyRange {
  const all = wholePositions(index, range);
  return wanted === undefined ? all : cut(all, namedPosition(index, wanted.at), wanted.side);
}

function wholePositions(index: Index, range: IndexRange): KeyRange {
  const {
    equals,
    prefix,
    gt,
    gte,
    lt,
    lte,
  }: Exactly<IndexRange, 'index' | 'equals' | 'prefix' | 'gt' | 'gte' | 'lt' | 'lte'> = range;
  checkBounds(range);
  if (prefix !== undefined && typeof prefix !== 'string') {
    throw new HedgerowError('invalid-argument', 'prefix must be a string: take equals');
  }
  const first = equals === undefined ? '' : encodeKey(index, equals);
  const skipped = Array.isArray(equals) ? equals.length : Number(equals !== undefined);
  const encode = (bound: SecondaryKey) => first + encodeKey(index, bound, skipped);
  /** Encodes the type of a bound by its tag; both booleans get the tag `one`. */
  const encodeTypeBound = (bound: SecondaryKey, one: string, other: string) => {
    const tag = encode(bound).charAt(first.length);
    return first + (tag === other ? one : tag);
  };
  const [low, high] = [gt === undefined ? gte : gt, lt === undefined ? lte : lt];
  let lower: string | undefined;
  let upper: string | undefined;
  if (low !== undefined) {
    lower = gt === undefined ? encode(low) : after(encode(low));
    upper = after(encodeTypeBound(low, Tag.true, Tag.false));
  }
  if (high !== undefined) {
    lower ??= encodeTypeBound(high, Tag.false, Tag.true);
    upper = lte === undefined ? encode(high) : after(encode(high));
  }
  if (prefix !== undefined)
    return buildKeyRange({ prefix: encode(prefix).slice(0, -1), gte: lower, lt: upper });
  if (first && lower === undefined) return { gte: first, lt: after(first) };
  return buildKeyRange({ gte: lower, lt: upper });
}

/** Returns the most bytes of the entries of a row with an array: see `most_bytes` in the core. */
function mostBytes(key: string, value: unknown): number {
  const row = utf8Length(key) + utf8Length(JSON.stringify(value));
  return Math.min(MAX_ROW_ENTRIES_BYTES, FREE_ROW_ENTRIES_BYTES + ROW_ENTRIES_FACTOR * row);
}

/** The function that splits texts into words, after it is loaded. */
let split: typeof wordsOf;

/** Loads the code that indexes with words need; a page with such indexes loads it before it opens a store. */
export async function loadWords(): Promise<void> {
  split = (await part(() => import('./words.js'))).wordsOf;
}

/** Returns `[null]` for an empty list, as for a missing column. */
const orNull = (some: readonly unknown[]) => (some.length > 0 ? some : [null]);

/** Returns the scalars of a column that may have several: the members of an array, or words. */
function scalarsOf(member: unknown, hasWords: boolean): readonly unknown[] {
  const all = orNull(Array.isArray(member) ? member : [member]);
  if (!hasWords) return all;
  return all.flatMap((one) => (typeof one === 'string' ? orNull(split(one)) : [one]));
}

/** Returns the entries of a row, unordered and without duplicates, like `Definition::entries` in the core. */
export function deriveEntries(index: Index, key: string, value: unknown): IndexEntry[] {
  const { words, below } = index;
  // A row that does not exist has no entry for its missing members.
  if (value === undefined || value instanceof Uint8Array || !key.startsWith(index.prefix))
    return [];
  const members = index.columns.map((names) => memberAt(value, names) ?? null);
  const isSeveral = (member: unknown, at: number) =>
    Array.isArray(member) || (at === words && typeof member === 'string');
  const column = members.findIndex(isSeveral);
  if (members.some((member, at) => at !== column && isSeveral(member, at))) return [];
  // No index lists a text that is longer than a key: skip its encoding.
  const text = (member: unknown) =>
    typeof member === 'string' && member.length > MAX_KEY_BYTES
      ? undefined
      : encodeMember(index, member);
  // Encode each other column once, however many members the array has.
  const encoded = members.map((member, at) => (at === column ? '' : text(member)));
  if (encoded.includes(undefined)) return [];
  const before = encoded.slice(0, column).join('');
  const after = column < 0 ? encoded.join('') + key : encoded.slice(column + 1).join('') + key;
  const entries = new Map<string, IndexEntry>();
  let bytes = 0;
  let most = FREE_ROW_ENTRIES_BYTES;
  for (const member of column < 0 ? [undefined] : scalarsOf(members[column], column === words)) {
    const own = column < 0 ? '' : text(member);
    if (own === undefined) continue;
    const position = column < 0 ? after : before + own + after;
    if (entries.has(position) || (below && compareKeys(position, below) >= 0)) continue;
    const length = utf8Length(position);
    if (length > MAX_KEY_BYTES) continue;
    bytes += length;
    if (column >= 0 && bytes > most) {
      most = mostBytes(key, value);
      if (bytes > most) return [];
    }
    const scalars = members.map((one, at) => (at === column ? member : one));
    const secondary = (scalars.length === 1 ? scalars[0] : scalars) as SecondaryKey;
    entries.set(position, { position, secondary });
  }
  return [...entries.values()];
}
