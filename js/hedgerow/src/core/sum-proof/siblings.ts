/**
 * Reads the siblings in a proof, and trusts no byte of it.
 *
 * ```text
 * of one key    n:u16 | n x ( hash:32 | sum:u64 ) | bitmap:32
 * of many       n:u32 | n x ( hash:32 | sum:u64 ) | bitmap        all numbers big-endian
 * ```
 *
 * Bit `i` of the bitmap, the lowest of each byte first, is set when the `i`-th sibling is empty. The
 * bitmap is as short as possible; its unused bits are zero.
 */
import { SHA256_BYTES } from './node-hash.js';

const NODE_BYTES = SHA256_BYTES + 8;

/** The results of {@link Siblings.next}: no valid sibling, an empty one, or one with a hash and a sum. */
export const NONE = 0;
export const EMPTY = 1;
export const PRESENT = 2;

/** The siblings of a proof, in their order. */
export class Siblings {
  /** The halves of the sum of the last sibling that was not empty. */
  high = 0;
  low = 0;
  readonly #proof: Uint8Array;
  /** The offsets of the next node and of the bitmap, and the number of bits read. */
  #node: number;
  readonly #bitmap: number;
  #bit = 0;

  /** `width` is the number of bytes of the count of nodes. */
  constructor(proof: Uint8Array, width: 2 | 4) {
    this.#proof = proof;
    this.#node = width;
    let count = 0;
    // If the proof ends within the count, the bitmap begins after the end, and `next` returns `NONE`.
    for (let at = 0; at < width; at++) count = count * 256 + (proof[at] ?? 0);
    this.#bitmap = width + NODE_BYTES * count;
  }

  /**
   * Reads the next sibling. Writes its hash to `hash` unless it is empty. `empty` is the hash of an empty sibling,
   * which only its bit may mark, so that each claim has one proof.
   */
  next(hash: Uint8Array, empty: Uint8Array): number {
    const proof = this.#proof;
    const flags = proof[this.#bitmap + (this.#bit >>> 3)];
    if (flags === undefined) return NONE;
    const isEmpty = (flags >>> (this.#bit & 7)) & 1;
    this.#bit++;
    if (isEmpty === 1) return EMPTY;
    let at = this.#node;
    this.#node += NODE_BYTES;
    if (this.#node > this.#bitmap) return NONE;
    let differs = 0;
    for (let to = 0; to < SHA256_BYTES; to++) {
      const byte = proof[at++]!;
      hash[to] = byte;
      differs |= byte ^ empty[to]!;
    }
    this.high = word(proof, at);
    this.low = word(proof, at + 4);
    return differs === 0 && this.high === 0 && this.low === 0 ? NONE : PRESENT;
  }

  /** Returns whether the proof ends here, without unused bytes or bits. */
  isAtEnd(): boolean {
    const { length } = this.#proof;
    const used = this.#bit & 7;
    const padding = used === 0 ? 0 : this.#proof[length - 1]! >>> used;
    return (
      this.#node === this.#bitmap &&
      length === this.#bitmap + Math.ceil(this.#bit / 8) &&
      padding === 0
    );
  }
}

function word(bytes: Uint8Array, at: number): number {
  const [a, b, c, d] = [bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!];
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}
