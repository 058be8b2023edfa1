/** Bytes with a fault: one bit is flipped, or the end is missing. A run takes a sample of the faults. */
import { below, forSampled } from './property.js';

/** A sample has one bit in so many. The number is odd, so that samples reach each place in a byte. */
const SHARE_OF_BITS = 31;

export function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  return bytes.with(bit >> 3, (bytes[bit >> 3] as number) ^ (1 << (bit & 7)));
}

type Body = (damaged: Uint8Array, at: number) => Promise<void> | void;

/** Runs `body` for `bytes` with each bit flipped. */
export function forFlips(bytes: Uint8Array, body: Body): Promise<void> {
  const run = (bit: number) => body(flipped(bytes, bit), bit);
  return forSampled(below(8 * bytes.length), run, SHARE_OF_BITS);
}

/** Runs `body` for `bytes` cut off at each length. */
export function forCuts(bytes: Uint8Array, body: Body): Promise<void> {
  return forSampled(below(bytes.length), (length) => body(bytes.slice(0, length), length));
}
