/**
 * Keys that are lists of values, such as `[2024, 'ada', true]`, as text that sorts as the lists do: value by value,
 * null first, then booleans, numbers and strings. They have the encoding of index columns.
 */
import { HedgerowError } from '../../base/errors.js';
import { checkKey, listOf } from '../../base/key.js';
import type { KeyRange } from '../../base/range.js';
import { isList, kindOf } from '../../base/runtime-type-checks.js';
import { encodeScalar, type Scalar, Tag } from '../../core/indexes/scalar.js';

export { HedgerowError } from '../../base/errors.js';
export type { KeyRange } from '../../base/range.js';
export type { Scalar } from '../../core/indexes/scalar.js';

/**
 * Encodes a list of values as a key. Throws `invalid-argument/key` if a value is no scalar, or the key has more than
 * 1024 bytes.
 */
export function encodeKey(parts: readonly Scalar[]): string {
  if (!isList(parts)) throw makeKeyError(`encodeKey takes a list of values, not ${kindOf(parts)}`);
  let key = '';
  let at = 0;
  for (const part of listOf('encodeKey', parts)) {
    const text = encodePart(part);
    if (text === undefined) {
      const kinds = 'well-formed strings, finite numbers, booleans and null';
      throw makeKeyError(`part ${at} of a key is ${describePart(part)}: take ${kinds}`);
    }
    key += text;
    at += 1;
  }
  checkKey(key);
  return key;
}

/** Returns the values of a key. Throws `invalid-argument/key` for text that `encodeKey` does not return. */
export function decodeKey(key: string): Scalar[] {
  checkKey(key);
  const parts: Scalar[] = [];
  let at = 0;
  while (at < key.length) {
    const end = endOf(key, at);
    const text = key.slice(at, end);
    const part = scalarOf(text);
    // Each list has only one key.
    if (encodePart(part) !== text) {
      throw makeKeyError(`encodeKey has not made it: what begins at character ${at} is no value`);
    }
    parts.push(part);
    at = end;
  }
  return parts;
}

/**
 * Returns the range of all keys that begin with these values: `db.scan(keyRange([2024]))`. Add `gt: encodeKey([2024,
 * 'ada'])` and the like for a part of them. Throws `invalid-argument/key`, also for an empty list, which would mean all
 * keys.
 */
export function keyRange(parts: readonly Scalar[]): KeyRange & { readonly prefix: string } {
  // No encoded value is the beginning of another.
  const prefix = encodeKey(parts);
  if (prefix === '') throw makeKeyError('keyRange takes at least one value');
  return { prefix };
}

const encodePart = (part: unknown) => (part === null ? Tag.null : encodeScalar(part));

function makeKeyError(message: string): HedgerowError {
  return new HedgerowError('invalid-argument/key', message);
}

function describePart(part: unknown): string {
  if (typeof part === 'string') return 'text with half of a surrogate pair';
  return typeof part === 'number' ? String(part) : kindOf(part);
}

/** Characters of an encoded number: a tag, and 64 bits in groups of 7. */
const NUMBER_LENGTH = 11;
const END = '\0';

/** Returns where the value that begins at a place ends. */
function endOf(key: string, at: number): number {
  if (key[at] === Tag.number) return at + NUMBER_LENGTH;
  if (key[at] !== Tag.string) return at + 1;
  const end = key.indexOf(END, at);
  return end < 0 ? key.length : end + 1;
}

/** Returns the value of well-formed text, and some value for other text. */
function scalarOf(text: string): Scalar {
  if (text[0] === Tag.number) return numberOf(text);
  if (text === Tag.null) return null;
  if (text[0] !== Tag.string) return text === Tag.true;
  const inner = text.slice(1, -1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are escapes
  return inner.replace(/\x01([\x01\x02])/g, (_, kind) => (kind === '\x01' ? END : '\x01'));
}

/** Reverses `encodeNumber`. */
function numberOf(text: string): number {
  const group = (at: number, shift: number) => text.charCodeAt(at) << shift;
  let high = text.charCodeAt(6) >> 4;
  let low = 0;
  for (let at = 1; at < 6; at++) high |= group(at, 38 - 7 * at);
  for (let at = 6; at < NUMBER_LENGTH; at++) low |= group(at, 70 - 7 * at);
  // The sign bit of a positive number is set, and all bits of a negative one are inverted.
  const isPositive = high < 0;
  const double = new DataView(new ArrayBuffer(8));
  double.setInt32(0, isPositive ? high & 0x7fff_ffff : ~high);
  double.setInt32(4, isPositive ? low : ~low);
  return double.getFloat64(0);
}
