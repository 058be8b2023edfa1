// Changes bytes at random, in ways that break formats of little-endian numbers, hashes and lists.

import { deflateRawSync } from 'node:zlib';

/** Makes a generator of random numbers, by a seed: mulberry32. */
export function randomOf(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (most) => Math.floor(next() * most);
  return { next, below, pick: (all) => all[below(all.length)] };
}

const NUMBERS = [
  0,
  1,
  2,
  7,
  8,
  9,
  16,
  17,
  63,
  64,
  65,
  255,
  256,
  4096,
  4097,
  8192,
  65_535,
  1 << 20,
].map(BigInt);
const WIDE = [
  ...NUMBERS,
  (1n << 24n) + 1n,
  (1n << 32n) - 1n,
  (1n << 53n) - 1n,
  1n << 53n,
  (1n << 64n) - 1n,
];
const HEADER_BYTES = 24;

/** Deflated zeros: up to 1,000 times as many when they are inflated. */
const BOMBS = [1 << 10, 1 << 20, 17 << 20, 64 << 20].map((length) =>
  deflateRawSync(Buffer.alloc(length), { level: 9 }),
);

const joined = (...parts) => Uint8Array.from(Buffer.concat(parts));

const WAYS = [
  // A bit, a byte.
  (bytes, { at, below }) => {
    bytes[at] ^= 1 << below(8);
    return bytes;
  },
  (bytes, { at, below }) => {
    bytes[at] = below(256);
    return bytes;
  },
  // A number, of any width, or one next to the old one.
  (bytes, { at, pick, next }) => {
    const width = pick([2, 4, 8]);
    if (at + width > bytes.length) return bytes;
    const place = Buffer.from(bytes.buffer, bytes.byteOffset + at, width);
    let there = 0n;
    for (let nth = width - 1; nth >= 0; nth--) there = (there << 8n) | BigInt(place[nth]);
    let number = next() < 0.5 ? there + pick([-1n, 1n]) : pick(WIDE);
    for (let nth = 0; nth < width; nth++, number >>= 8n) place[nth] = Number(number & 0xffn);
    return bytes;
  },
  // Removes, repeats or moves a part.
  (bytes, { at, below }) => joined(bytes.subarray(0, at), bytes.subarray(at + 1 + below(90))),
  (bytes, { at, below }) => {
    const length = 1 + below(90);
    return joined(bytes.subarray(0, at + length), bytes.subarray(at));
  },
  (bytes, { at, below }) => {
    const from = HEADER_BYTES + below(bytes.length);
    bytes.copyWithin(at, from, from + pickLength(below));
    return bytes;
  },
  // Zeros.
  (bytes, { at, below }) => bytes.fill(0, at, at + pickLength(below)),
  // Takes the end of another input.
  (bytes, { at, other, below }) =>
    joined(bytes.subarray(0, at), other.subarray(below(Math.max(1, other.length)))),
  // Bytes that inflate to very many.
  (bytes, { pick, below }) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(pick([1, 1 << 10, 1 << 20, 16 << 20, (16 << 20) + 1, below(2 ** 32)]));
    return joined(bytes.subarray(0, HEADER_BYTES), length, pick(BOMBS), Buffer.alloc(4));
  },
];

const pickLength = (below) => [8, 16, 32, 40, 1 + below(200)][below(5)];

/** Returns a changed copy of bytes; `other` is another input. */
export function mutated(bytes, other, random) {
  let changed = bytes.slice();
  for (let times = random.next() < 0.6 ? 1 : 2 + random.below(3); times > 0; times--) {
    // The bombs are expensive, so they are rare.
    const way = random.next() < 0.02 ? WAYS.at(-1) : random.pick(WAYS.slice(0, -1));
    const isBody = changed.length > HEADER_BYTES && random.next() < 0.95;
    const at = isBody
      ? HEADER_BYTES + random.below(changed.length - HEADER_BYTES)
      : random.below(changed.length + 1);
    changed = way(changed, { ...random, at, other });
  }
  return changed;
}
