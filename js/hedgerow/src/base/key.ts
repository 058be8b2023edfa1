/** Keys: their check and their order. */
import { HedgerowError } from './errors.js';
import { MAX_KEY_BYTES } from './limits.js';
import { isList, kindOf } from './runtime-type-checks.js';

/** Matches half of a surrogate pair without the other half. */
export const LONE_SURROGATE = /[\ud800-\udfff]/u;

/** Counts the bytes of a well-formed string in UTF-8. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    // Each half of a pair counts 2: four bytes for the pair.
    if (unit >= 0x80) length += unit < 0x800 || (unit & 0xf800) === 0xd800 ? 1 : 2;
  }
  return length;
}

/**
 * Throws `invalid-argument/key` unless `key` is a valid key. `at` is the number of its row, or the name of its
 * argument.
 */
export function checkKey(key: unknown, at?: number | string): asserts key is string {
  const fault = keyFault(key);
  if (fault === undefined) return;
  const row = typeof at === 'number' ? at : undefined;
  const where = row === undefined ? at : `row ${row}`;
  throw new HedgerowError('invalid-argument/key', where ? `${where}: ${fault}` : fault, { row });
}

/** Throws `invalid-argument` unless `keys` is iterable. Refuses a string: its characters are not keys. */
export function checkKeys<Key>(call: string, keys: Iterable<Key>): Iterable<Key> {
  if (isList(keys)) return keys;
  throw new HedgerowError('invalid-argument', `${call} takes a list of keys, not ${kindOf(keys)}`);
}

/** Yields the members of a list. Throws `invalid-argument` if it is no list, or cannot be read. */
export function* membersOf<Member>(call: string, list: Iterable<Member>): Generator<Member> {
  try {
    yield* checkKeys(call, list);
  } catch (cause) {
    if (cause instanceof HedgerowError) throw cause;
    throw new HedgerowError('invalid-argument', `${call}: the list cannot be read`, { cause });
  }
}

/** Returns the members of a list. Throws as `membersOf` does. */
export const listOf = <Member>(call: string, list: Iterable<Member>): Member[] => [
  ...membersOf(call, list),
];

/**
 * Compares keys by their bytes in UTF-8. JavaScript compares units of UTF-16, in which surrogate
 * pairs come before U+E000 to U+FFFF; in UTF-8 they come after.
 */
export function compareKeys(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Returns the rank of a unit of UTF-16 in the order of UTF-8. */
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
