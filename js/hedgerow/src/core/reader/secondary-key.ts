/** Secondary keys in entries of an index: `crate/src/index/encode.rs` describes their bytes. */
import { decodeText } from './bytes-view.js';

const [NULL, FALSE, TRUE, NUMBER, STRING] = [1, 2, 3, 4, 5];
const [END, ESCAPE] = [0, 1];
/** Bytes of a number after its tag. */
const NUMBER_BYTES = 10;

/** Returns where a scalar ends; NaN if it is malformed. */
function endOfScalar(bytes: Uint8Array, at: number): number {
  const tag = bytes[at];
  if (tag === NUMBER) return at + 1 + NUMBER_BYTES;
  if (tag !== STRING) return tag === NULL || tag === FALSE || tag === TRUE ? at + 1 : Number.NaN;
  const end = bytes.indexOf(END, at + 1);
  return end < 0 ? Number.NaN : end + 1;
}

/** Returns where the secondary key of an entry ends; 0 if it is malformed. */
export function endOfSecondary(entry: Uint8Array, columns: number): number {
  let at = 0;
  for (let column = 0; column < columns; column++) at = endOfScalar(entry, at);
  return at <= entry.length ? at : 0;
}

/** Reads a scalar. */
function scalarOf(bytes: Uint8Array): unknown {
  const [tag] = bytes;
  if (tag === FALSE || tag === TRUE) return tag === TRUE;
  if (tag === NUMBER) return numberOf(bytes.subarray(1));
  if (tag !== STRING) return null;
  const plain: number[] = [];
  for (let at = 1; at < bytes.length - 1; at++) {
    const byte = bytes[at] as number;
    plain.push(byte === ESCAPE ? (bytes[++at] as number) - 1 : byte);
  }
  return decodeText(Uint8Array.from(plain));
}

/** Reads a number from ten groups of seven bits, the first of which has one. */
function numberOf(groups: Uint8Array): number {
  const group = (at: number) => (groups[at] as number) & 0x7f;
  let high = (group(0) << 31) | (group(5) >> 4);
  let low = group(5) << 28;
  for (let at = 1; at < 5; at++) {
    high |= group(at) << (31 - 7 * at);
    low |= group(at + 5) << (28 - 7 * at);
  }
  const view = new DataView(new ArrayBuffer(8));
  // All bits of a negative number are inverted, and only the sign of others.
  const isPositive = high < 0;
  view.setInt32(0, isPositive ? high ^ (1 << 31) : ~high);
  view.setInt32(4, isPositive ? low : ~low);
  return view.getFloat64(0);
}

/**
 * Returns a secondary key as JSON text: a scalar, or an array of several. `[]` stands for null next to values, whose
 * places null marks.
 */
export function secondaryText(
  secondary: Uint8Array,
  columns: number,
  hasValues: boolean,
): Uint8Array {
  const scalars: unknown[] = [];
  for (let at = 0; at < secondary.length; ) {
    const end = endOfScalar(secondary, at);
    scalars.push(scalarOf(secondary.subarray(at, end)));
    at = end;
  }
  const [first] = scalars;
  const value = columns > 1 ? scalars : first === null && hasValues ? [] : first;
  return new TextEncoder().encode(JSON.stringify(value));
}
