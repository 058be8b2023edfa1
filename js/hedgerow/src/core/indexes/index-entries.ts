/** Computes the entries of rows in an index, as the core does. */

import { memberAt } from '../../base/json-pointer.js';
import { compareKeys, utf8Length } from '../../base/key.js';
import {
  FREE_ROW_ENTRIES_BYTES,
  MAX_KEY_BYTES,
  MAX_ROW_ENTRIES_BYTES,
  ROW_ENTRIES_FACTOR,
} from '../../base/limits.js';
import type { Index } from './definition.js';
import { encodeMember, type SecondaryKey } from './index-range.js';
import { splitWords } from './words-code.js';

/** An entry of an index. */
export interface IndexEntry {
  /** The key of the entry in its tree: the encoded secondary key and the key of the row. */
  readonly position: string;
  readonly secondary: SecondaryKey;
}

/** Returns the most bytes of the entries of a row with an array: see `most_bytes` in the core. */
function mostBytes(key: string, value: unknown): number {
  const row = utf8Length(key) + utf8Length(JSON.stringify(value));
  return Math.min(MAX_ROW_ENTRIES_BYTES, FREE_ROW_ENTRIES_BYTES + ROW_ENTRIES_FACTOR * row);
}

/** Returns `[null]` for an empty list, as for a missing column. */
const orNull = (some: readonly unknown[]) => (some.length > 0 ? some : [null]);

/** Returns the scalars of a column that may have several: the members of an array, or words. */
function scalarsOf(member: unknown, hasWords: boolean): readonly unknown[] {
  const all = orNull(Array.isArray(member) ? member : [member]);
  if (!hasWords) return all;
  return all.flatMap((one) => (typeof one === 'string' ? orNull(splitWords(one)) : [one]));
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
