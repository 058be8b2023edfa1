/** The expected entries of an index, computed without encoding keys. */

import type { ColumnPath, IndexDefinition } from '../../../src/core/indexes/definition.js';
import type { EntryPosition, SecondaryKey } from '../../../src/core/indexes/index-range.js';
import type { Scalar } from '../../../src/core/indexes/scalar.js';
import type { IndexScanOptions } from '../../../src/engine/read/scan-options.js';
import { compareKeys, type Entry } from './store-model.js';

export type IndexedEntry = [key: string, value: unknown, secondary: SecondaryKey];

function memberAt(value: unknown, pointer: string): unknown {
  let at = value;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(at)) at = /^(0|[1-9][0-9]*)$/.test(name) ? at[Number(name)] : undefined;
    else if (typeof at === 'object' && at !== null && Object.hasOwn(at, name)) {
      at = (at as Record<string, unknown>)[name];
    } else return undefined;
  }
  return at;
}

function isScalar(value: unknown): value is Scalar {
  if (typeof value === 'string') return !/\p{Surrogate}/u.test(value);
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}

const TYPES = ['null', 'boolean', 'number', 'string'];

const typeOf = (scalar: Scalar | undefined) => (scalar === null ? 'null' : typeof scalar);

function compareScalars(a: Scalar, b: Scalar): number {
  if (typeof a === 'string' && typeof b === 'string') return compareKeys(a, b);
  if (typeOf(a) === typeOf(b)) return Number(a) - Number(b);
  return TYPES.indexOf(typeOf(a)) - TYPES.indexOf(typeOf(b));
}

const listOf = (key: SecondaryKey) => (Array.isArray(key) ? key : [key]) as readonly Scalar[];

/** Returns the columns of a definition. */
export const columnsOf = ({ path }: IndexDefinition): readonly ColumnPath[] =>
  (Array.isArray(path) ? path : [path]) as readonly ColumnPath[];

/** Separators between words: all characters but letters, digits and marks, by the ranges of `docs/api.md`. */
const SEPARATORS =
  /[\0-/:-@[-`{-\u00bf\u00d7\u060c-\u061f\u06d4\u0964\u0965\u2000-\u2bff\u2e00-\u3004\u3008-\u3020\ufeff-\uff0f\uff1a-\uff20\uff5b-\uff65]+/u;

/** Characters that become lower case; capitals of other scripts stay. */
const CAPITALS =
  /[A-Z\u00c0-\u017f\u0386-\u03ab\u0400-\u042f\u048a-\u04bf\u04c1-\u052f\u01a0-\u01a5\u01af\u01b7\u01cd-\u01dc\u01de-\u01ef\u01f4\u01f8-\u021f\u0226-\u0233\u1e00-\u1e95\u1ea0-\u1eff]/gu;
const PARTS = /[\u0300-\u033f\u1161-\u1175\u11a8-\u11c2]/;
const COMPOSED = /^[\u00c0-\u024f\u0370-\u04ff\u1e00-\u1eff\uac00-\ud7a3]$/;

/** Composes the letters of a word into one character each, and cuts it after 64 of them. */
function whole(word: string): string {
  const chars: string[] = [];
  for (const char of word) {
    const last = chars.at(-1);
    const both = `${last ?? ''}${char}`.normalize('NFC').replace('i\u0307', 'i');
    const isOne = last !== undefined && PARTS.test(char) && (COMPOSED.test(both) || both === 'i');
    if (isOne) chars.pop();
    chars.push(isOne ? both : char);
  }
  return chars.slice(0, 64).join('');
}

/** Returns the words of a text, by the functions of JavaScript. */
export function modelWords(text: string): string[] {
  if (/\p{Surrogate}/u.test(text)) return [];
  const words = text.split(SEPARATORS).filter((word) => word !== '');
  // `\u0130` becomes two characters: keeps the letter.
  const small = (char: string) => [...char.toLowerCase()][0] as string;
  return words.map((word) => whole(word.replace(CAPITALS, small).replaceAll('\u03c2', '\u03c3')));
}

/** Compares only the columns that both have. */
function compareSecondary(a: SecondaryKey, b: SecondaryKey): number {
  const [left, right] = [listOf(a), listOf(b)];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const order = compareScalars(left[at] as Scalar, right[at] as Scalar);
    if (order !== 0) return order;
  }
  return 0;
}

/** Compares entries by their order in an index. */
export function comparePositions(a: EntryPosition, b: EntryPosition): number {
  return compareSecondary(a[0], b[0]) || compareKeys(a[1], b[1]);
}

/** Returns the values of a member in a column, before null and non-scalars are left out. */
function listedOf(member: unknown, hasWords: boolean): unknown[] {
  if (!Array.isArray(member)) {
    if (!hasWords || typeof member !== 'string') return [member];
    const words = modelWords(member);
    return words.length === 0 ? [null] : words;
  }
  return member.length === 0
    ? [null]
    : member.flatMap((one) => (Array.isArray(one) ? [one] : listedOf(one, hasWords)));
}

/** Returns all entries of an index in order. */
export function entriesOfRows(definition: IndexDefinition, rows: readonly Entry[]): IndexedEntry[] {
  const { prefix = '', nulls = false, below } = definition;
  const columns = columnsOf(definition);
  const found: IndexedEntry[] = [];
  for (const [key, value] of rows) {
    if (!key.startsWith(prefix) || value instanceof Uint8Array) continue;
    const lists = columns.map((column) => {
      const hasWords = typeof column !== 'string';
      const member = memberAt(value, hasWords ? column.words : column) ?? null;
      const isSeveral = Array.isArray(member) || (hasWords && typeof member === 'string');
      return { isSeveral, listed: listedOf(member, hasWords) };
    });
    if (lists.filter(({ isSeveral }) => isSeveral).length > 1) continue;
    const width = Math.max(...lists.map(({ listed }) => listed.length));
    const seen = new Set<string>();
    for (let at = 0; at < width; at++) {
      const scalars = lists.map(({ isSeveral, listed }) => listed[isSeveral ? at : 0]);
      if (!scalars.every(isScalar) || (!nulls && scalars.includes(null))) continue;
      if (below !== undefined && compareScalars(scalars[0] as Scalar, below) >= 0) continue;
      if (seen.has(JSON.stringify(scalars))) continue;
      seen.add(JSON.stringify(scalars));
      found.push([key, value, columns.length === 1 ? (scalars[0] as Scalar) : scalars]);
    }
  }
  return found.sort((a, b) => comparePositions([a[2], a[0]], [b[2], b[0]]));
}

/** Returns the expected result of a scan of a range of them. */
export function selectEntries(
  entries: readonly IndexedEntry[],
  range: Omit<IndexScanOptions, 'index'>,
): IndexedEntry[] {
  const { equals, prefix, gt, gte, lt, lte, after } = range;
  const { reverse = false, offset = 0, limit = Infinity } = range;
  const bounds = [gt, gte, lt, lte].filter((bound) => bound !== undefined);
  const one = bounds.length === 1 ? listOf(bounds[0] as SecondaryKey)[0] : undefined;
  const skipped = equals === undefined ? 0 : listOf(equals).length;
  const found = entries.filter(([key, , secondary]) => {
    if (after !== undefined) {
      const order = comparePositions([secondary, key], after);
      if (reverse ? order >= 0 : order <= 0) return false;
    }
    if (equals !== undefined && compareSecondary(secondary, equals) !== 0) return false;
    // The other options concern the columns that follow.
    const rest = listOf(secondary).slice(skipped);
    const [first] = rest;
    if (one !== undefined && typeOf(first) !== typeOf(one)) return false;
    return (
      (prefix === undefined || (typeof first === 'string' && first.startsWith(prefix))) &&
      (gt === undefined || compareSecondary(rest, gt) > 0) &&
      (gte === undefined || compareSecondary(rest, gte) >= 0) &&
      (lt === undefined || compareSecondary(rest, lt) < 0) &&
      (lte === undefined || compareSecondary(rest, lte) <= 0)
    );
  });
  return (reverse ? found.reverse() : found).slice(offset, offset + limit);
}

/** Returns how many of the entries, in the order of a scan, come before a position. */
export function rankOf(
  entries: readonly IndexedEntry[],
  at: EntryPosition,
  reverse = false,
): number {
  const sign = reverse ? -1 : 1;
  return entries.filter(([key, , secondary]) => sign * comparePositions([secondary, key], at) < 0)
    .length;
}
