/** Repeatable random values: a seed determines all of them. */

export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** From 0 to below `end`. */
  below(end: number): number;
  pick<T>(from: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
  /** Bytes that do not compress. */
  bytes(length: number): Uint8Array;
  text(maxLength: number): string;
  /** A JSON value. */
  value(depth?: number): unknown;
}

/** The generator mulberry32. */
export function random(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const text = (maxLength: number) =>
    Array.from({ length: below(maxLength + 1) }, () => pick(CHARS)).join('');
  const scalars = [
    () => null,
    () => next() < 0.5,
    () => below(1000) - 500,
    () => (next() - 0.5) * 10 ** (below(60) - 30),
    () => text(12),
  ];
  const value = (depth = 3): unknown => {
    if (depth === 0 || next() < 0.4) return pick(scalars)();
    const length = below(5);
    if (next() < 0.5) return Array.from({ length }, () => value(depth - 1));
    return Object.fromEntries(Array.from({ length }, () => [text(6), value(depth - 1)]));
  };
  return {
    next,
    below,
    pick,
    text,
    value,
    shuffle(items) {
      const shuffled = [...items];
      for (let at = shuffled.length - 1; at > 0; at--) {
        const other = below(at + 1);
        [shuffled[at], shuffled[other]] = [shuffled[other]!, shuffled[at]!];
      }
      return shuffled;
    },
    bytes(length) {
      const bytes = new Uint8Array(length);
      let noise = below(2 ** 32);
      for (let at = 0; at < length; at++) {
        noise = (Math.imul(noise, 1664525) + 1013904223) | 0;
        bytes[at] = noise >>> 24;
      }
      return bytes;
    },
  };
}

// Characters of one to four bytes in UTF-8, characters that JSON escapes, and characters whose order in UTF-16 differs
// from their order in UTF-8.
const CHARS = [...'aabbcc019~/"\\\0\n\x1f\x7fé߿ࠀ中\u2028\u2029\ufeff\uffff～😀𝄞\u{10ffff}'];
