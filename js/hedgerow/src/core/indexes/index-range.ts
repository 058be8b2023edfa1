/** Computes the positions of ranges of an index, as the core does. */

import { HedgerowError } from '../../base/errors.js';
import type { Exactly } from '../../base/exhaustive-members-type.js';
import { checkKey } from '../../base/key.js';
import { buildKeyRange, checkBounds, cut, type KeyRange } from '../../base/range.js';
import { kindOf } from '../../base/runtime-type-checks.js';
import type { Index } from './definition.js';
import { after, encodeScalar, type Scalar, Tag } from './scalar.js';

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

/** Encodes one column; returns `undefined` for a value that the index does not list. */
export function encodeMember({ nulls }: Index, member: unknown): string | undefined {
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
