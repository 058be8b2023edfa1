/**
 * Encodes scalars of secondary keys as the core does: as text in the order of the values. `crate/src/index/encode.rs`
 * draws the format.
 */
import { LONE_SURROGATE } from '../../base/key.js';

/**
 * A value that an index can list; null only with `nulls`. Null comes before booleans, booleans before numbers, and
 * numbers before strings.
 */
export type Scalar = string | number | boolean | null;

/** The first character of an encoded scalar. */
export const Tag = {
  null: '\x01',
  false: '\x02',
  true: '\x03',
  number: '\x04',
  string: '\x05',
} as const;
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

/** Escapes the control characters of a string, so that it comes after its prefixes. */
export function escapeControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it escapes control characters
  return text.replace(/[\0\x01]/g, (char) => (char === END ? '\x01\x01' : '\x01\x02'));
}

/** Encodes a scalar; returns `undefined` for null, and for a value that no index lists. */
export function encodeScalar(value: unknown): string | undefined {
  if (typeof value === 'string') {
    return LONE_SURROGATE.test(value) ? undefined : `${Tag.string}${escapeControls(value)}${END}`;
  }
  if (typeof value === 'boolean') return value ? Tag.true : Tag.false;
  return typeof value === 'number' && Number.isFinite(value) ? encodeNumber(value) : undefined;
}

/** Returns the first text after all texts that start with `text`, whose last character must be ASCII. */
export function after(text: string): string {
  return text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);
}
