/**
 * Texts for the fault numbers of rows: why the core refused one. `crate/trees/src/error.rs` has the same list in the
 * same order; `scripts/test/faults.test.mjs` compares them.
 */
import { MAX_JSON_DEPTH, MAX_KEY_BYTES } from './limits.js';

/** Faults of keys. */
const KEY_FAULTS = [
  'the key is not a string: bytes need one; of objects take key: (row) => String(row.id); a table takes a list as its key', // KeyNotString
  'the row has no key, or not where the pointer says', // KeyMissing
  `the key is longer than ${MAX_KEY_BYTES} bytes`, // KeyTooLong
  'the key holds half of a surrogate pair', // KeyLoneSurrogate
];

/** All faults of rows; the faults of keys come first. */
const ROW_FAULTS = [
  ...KEY_FAULTS,
  'the value is larger than 64 MiB', // ValueTooLarge
  `the value is nested deeper than ${MAX_JSON_DEPTH}`, // TooDeep
  'the text is not JSON', // Syntax
  'op is not put, insert, update, delete or clear', // NoOperation
  'put has no `value`, or a change no `newValue`', // ValueMissing
  '`merge` is not an object', // MergeNotObject
  '`constrain` or `unset` is not an array of strings', // NotNames
  'the row to update is not an object', // NotObject
  'a number is too large: numbers are doubles', // NumberTooLarge
  'changes of an index (`secondary`) are no patch', // IndexEntry
  '`clear` deletes all rows: it takes no key and no range', // ClearBounded
  '`update` takes a `newValue`, or `merge`, `unset` and `constrain`, not both', // UpdateTwice
];

/** Says why the core refused a row. */
export function rowFault(number: number): string {
  return ROW_FAULTS[number] ?? `fault ${number}`;
}

/** Returns whether the core refused a row because of its key. */
export function isKeyFault(number: number): boolean {
  return number < KEY_FAULTS.length;
}
