/** What a key may be. */
import { HedgerowError } from './errors.js';
import { isList, kindOf } from './kind.js';
import { MAX_KEY_BYTES } from './limits.js';

/** Half of a surrogate pair without the other. */
export const LONE_SURROGATE = /[\ud800-\udfff]/u;

/** Bytes of a well-formed string in UTF-8. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    // Each half of a pair counts one more than its unit: four bytes in all.
    if (unit >= 0x80) length += unit < 0x800 || (unit & 0xf800) === 0xd800 ? 1 : 2;
  }
  return length;
}

/**
 * Throws `invalid-key` unless `key` is a string that can be a key. `at` is the row that it is of, or
 * the argument.
 */
export function checkKey(key: unknown, at?: number | string): asserts key is string {
  const fault = keyFault(key);
  if (fault === undefined) return;
  const row = typeof at === 'number' ? at : undefined;
  const where = row === undefined ? at : `row ${row}`;
  throw new HedgerowError('invalid-key', where ? `${where}: ${fault}` : fault, { row });
}

/** Throws `invalid-argument` unless `keys` is a list of keys: of a text the characters are none. */
export function checkKeys<Key>(call: string, keys: Iterable<Key>): Iterable<Key> {
  if (isList(keys)) return keys;
  throw new HedgerowError('invalid-argument', `${call} takes a list of keys, not ${kindOf(keys)}`);
}

/**
 * The order of keys: by their bytes in UTF-8. JavaScript's own is by units of UTF-16, where the
 * halves of a surrogate pair come before U+E000 to U+FFFF; as bytes they come after.
 */
export function compareKeys(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Where a unit of UTF-16 stands among others in the order of UTF-8. */
function rank(unit: number): number {
  return (unit & 0xf800) === 0xd800 ? unit + 0x1_0000 : unit;
}

function keyFault(key: unknown): string | undefined {
  if (typeof key !== 'string') return `the key is not a string but ${kindOf(key)}`;
  if (LONE_SURROGATE.test(key)) return 'the key holds half of a surrogate pair';
  if (key.length * 3 > MAX_KEY_BYTES && utf8Length(key) > MAX_KEY_BYTES) {
    return `the key is longer than ${MAX_KEY_BYTES} bytes`;
  }
  return undefined;
}
