/** Estimates how much work it is to make or read a message. */

import { isBuffer } from '../base/is-byte-array.js';

/**
 * Estimates the bytes of a value in a message. For more than `most`, or an unreadable value, returns any number above
 * `most`.
 */
export function weigh(value: unknown, most: number): number {
  try {
    return weightOf(value, most);
  } catch {
    return most + 1;
  }
}

function weightOf(value: unknown, most: number): number {
  if (typeof value === 'string') return 8 + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  if (ArrayBuffer.isView(value) || isBuffer(value)) return 16 + value.byteLength;
  let sum = 16;
  const isList = Symbol.iterator in value;
  for (const one of (isList ? value : Object.entries(value)) as Iterable<unknown>) {
    if (sum > most) break;
    // Entries count as lists: their brackets make little difference.
    sum += weightOf(one, most - sum);
  }
  return sum;
}
