/**
 * Encodes secondary keys like the core does: as text in the order of the values. The format is drawn
 * in `crate/src/index/encode.rs`.
 */
import { HedgerowError } from '../base/errors.js';
import type { Exactly } from '../base/exactly.js';
import { memberAt } from '../base/json-pointer.js';
import { checkKey, LONE_SURROGATE, utf8Length } from '../base/key.js';
import { kindOf } from '../base/kind.js';
import {
  FREE_ROW_ENTRIES_BYTES,
  MAX_KEY_BYTES,
  MAX_ROW_ENTRIES_BYTES,
  ROW_ENTRIES_FACTOR,
} from '../base/limits.js';
import { cut, type KeyRange } from '../base/range.js';
import type { Index } from './definition.js';

/** A value that can be indexed. Booleans are ordered before numbers, and numbers before strings. */
export type Scalar = string | number | boolean;

/** The key of an index entry: a scalar, or an array with one for each column. */
export type SecondaryKey = Scalar | readonly Scalar[];

/** A range of an index. */
export interface IndexRange {
  /** The name of the index. */
  readonly index: string;
  /** Rows with this secondary key. For several columns, the first ones are enough. */
  readonly equals?: SecondaryKey | undefined;
  /** Rows whose secondary key (its first column) is a string that starts with this. */
  readonly prefix?: string | undefined;
  /**
   * A bound. A range with one bound includes only values of the type of that bound. A bound with
   * fewer columns than the index stands for all keys that start with these columns.
   */
  readonly gt?: SecondaryKey | undefined;
  readonly gte?: SecondaryKey | undefined;
  readonly lt?: SecondaryKey | undefined;
  readonly lte?: SecondaryKey | undefined;
}

/** Where an entry is in its index: its secondary key, with all columns, and the key of its row. */
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

const Tag = { false: '\x02', true: '\x03', number: '\x04', string: '\x05' } as const;
const END = '\0';

const double = new DataView(new ArrayBuffer(8));

function encodeNumber(number: number): string {
  // Zero and negative zero are equal.
  double.setFloat64(0, number === 0 ? 0 : number);
  let [high, low] = [double.getUint32(0), double.getUint32(4)];
  if (high >>> 31 === 0) high |= 0x8000_0000;
  else [high, low] = [~high, ~low];
  const groups = [31, 24, 17, 10, 3].map((shift) => (high >>> shift) & 0x7f);
  groups.push(((high & 7) << 4) | (low >>> 28));
  for (const shift of [21, 14, 7, 0]) groups.push((low >>> shift) & 0x7f);
  return Tag.number + String.fromCharCode(...groups);
}

function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it escapes control characters
  return text.replace(/[\0\x01]/g, (char) => (char === END ? '\x01\x01' : '\x01\x02'));
}

/** Encodes a scalar; `undefined` for a value that cannot be indexed. */
function encode(value: unknown): string | undefined {
  if (typeof value === 'string') {
    return LONE_SURROGATE.test(value) ? undefined : `${Tag.string}${escaped(value)}${END}`;
  }
  if (typeof value === 'boolean') return value ? Tag.true : Tag.false;
  return typeof value === 'number' && Number.isFinite(value) ? encodeNumber(value) : undefined;
}

function encodeKey(index: Index, key: SecondaryKey): string {
  const scalars = Array.isArray(key) ? key : [key];
  const columns = index.columns.length;
  if (scalars.length === 0 || scalars.length > columns) {
    throw new HedgerowError('invalid-argument', `keys of ${index.name} have ${columns} columns`);
  }
  const encoded = scalars.map((scalar: unknown) => {
    const text = encode(scalar);
    if (text !== undefined) return text;
    throw new HedgerowError('invalid-argument', `an index has no key that is ${kindOf(scalar)}`);
  });
  return encoded.join('');
}

/** The position of the entry of a row. Throws `invalid-argument`. */
export function positionOf(index: Index, secondary: SecondaryKey, key: string): string {
  return encodeKey(index, secondary) + key;
}

/** The position that a caller names. Fewer columns would be the position of no entry. */
function namedPosition(index: Index, [secondary, key]: EntryPosition): string {
  checkKey(key);
  const columns = Array.isArray(secondary) ? secondary.length : 1;
  if (columns === index.columns.length) return positionOf(index, secondary, key);
  const message = `a position in ${index.name} has ${index.columns.length} columns, not ${columns}`;
  throw new HedgerowError('invalid-argument', message);
}

/** The first text after all that start with `text`, whose last character must be ASCII. */
function after(text: string): string {
  return text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);
}

/** The positions of a range of an index, on one side of the `wanted` cut. Throws `invalid-argument`. */
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
  const bounds = [gt, gte, lt, lte].filter((bound) => bound !== undefined).length;
  const twice = (gt !== undefined && gte !== undefined) || (lt !== undefined && lte !== undefined);
  if (twice || (equals !== undefined && (bounds > 0 || prefix !== undefined))) {
    throw new HedgerowError('invalid-argument', 'a range has bounds or equals, each bound once');
  }
  if (equals !== undefined) {
    const key = encodeKey(index, equals);
    return { gte: key, lt: after(key) };
  }
  if (prefix !== undefined && typeof prefix !== 'string') {
    throw new HedgerowError('invalid-argument', 'prefix must be a string: take equals');
  }
  let lower = gte === undefined ? undefined : encodeKey(index, gte);
  if (gt !== undefined) lower = after(encodeKey(index, gt));
  let upper = lt === undefined ? undefined : encodeKey(index, lt);
  if (lte !== undefined) upper = after(encodeKey(index, lte));
  if (lower === undefined && upper !== undefined) lower = typeOf(lt ?? lte);
  else if (upper === undefined && lower !== undefined) upper = after(typeOf(gt ?? gte, true));
  const start = prefix === undefined ? {} : { prefix: Tag.string + escaped(prefix) };
  return { ...start, gte: lower, lt: upper };
}

/** The tag of the type of a bound's first column; for booleans that of `false`, or of `true` if `last`. */
function typeOf(bound: SecondaryKey | undefined, last = false): string {
  const scalar: unknown = Array.isArray(bound) ? bound[0] : bound;
  if (typeof scalar === 'boolean') return last ? Tag.true : Tag.false;
  return typeof scalar === 'number' ? Tag.number : Tag.string;
}

/** Most bytes of the entries of a row with an array: see `most_bytes` in the core. */
function mostBytes(key: string, value: unknown): number {
  const row = utf8Length(key) + utf8Length(JSON.stringify(value));
  return Math.min(MAX_ROW_ENTRIES_BYTES, FREE_ROW_ENTRIES_BYTES + ROW_ENTRIES_FACTOR * row);
}

/** The entries of a row, unordered and without duplicates: like `Definition::entries` in the core. */
export function entriesOf(index: Index, key: string, value: unknown): IndexEntry[] {
  if (!key.startsWith(index.prefix) || value instanceof Uint8Array) return [];
  const members = index.columns.map((names) => memberAt(value, names));
  const column = members.findIndex(Array.isArray);
  if (members.some((member, at) => at !== column && Array.isArray(member))) return [];
  // A text that is longer than a key is not indexed: skip its encoding.
  const text = (member: unknown) =>
    typeof member === 'string' && member.length > MAX_KEY_BYTES ? undefined : encode(member);
  // Encode each other column once, however many members the array has.
  const encoded = members.map((member, at) => (at === column ? '' : text(member)));
  if (encoded.includes(undefined)) return [];
  const before = encoded.slice(0, column).join('');
  const after = column < 0 ? encoded.join('') + key : encoded.slice(column + 1).join('') + key;
  const entries = new Map<string, IndexEntry>();
  let bytes = 0;
  let most = FREE_ROW_ENTRIES_BYTES;
  for (const member of column < 0 ? [undefined] : (members[column] as unknown[])) {
    const own = column < 0 ? '' : text(member);
    if (own === undefined) continue;
    const position = column < 0 ? after : before + own + after;
    if (entries.has(position)) continue;
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
