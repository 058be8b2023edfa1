/**
 * Reads the packed form of a chunk in a segment: an LZ4 block,
 * https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md. The core packs and unpacks; this code serves readers of
 * segments outside of the core. It refuses every damaged form: it neither throws nor takes more memory than the longest
 * packed chunk.
 */

import { MAX_PACKED_CHUNK_BYTES } from './limits.js';

/** A length of four bits that are all set: more of it follows. */
const MORE = 15;
/** The shortest match: lengths count from here. */
const MIN_MATCH = 4;

/** A reader of the bytes of a block, from first to last. */
class Input {
  #at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Reads the next byte; returns NaN after the last one, which makes every result of it NaN. */
  byte(): number {
    return this.#bytes[this.#at++] ?? Number.NaN;
  }

  /** Reads a length that begins with four bits; each byte after 255 adds to it. */
  length(bits: number): number {
    if (bits < MORE) return bits;
    let [length, byte] = [bits, 255];
    while (byte === 255) {
      byte = this.byte();
      length += byte;
    }
    return length;
  }

  /** Reads the next bytes; returns fewer if there are not that many. */
  bytes(length: number): Uint8Array {
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return bytes;
  }
}

/** Returns the chunk of `length` bytes from `stored`, which is packed if shorter; `undefined` if it is damaged. */
export function chunkFrom(stored: Uint8Array, length: number): Uint8Array | undefined {
  return stored.length < length ? unpackChunk(stored, length) : stored;
}

/** Unpacks `stored` to a chunk of `length` bytes; returns `undefined` if it is damaged. */
export function unpackChunk(stored: Uint8Array, length: number): Uint8Array | undefined {
  if (!(length >= 0 && length <= MAX_PACKED_CHUNK_BYTES)) return undefined;
  const input = new Input(stored);
  const chunk = new Uint8Array(length);
  let at = 0;
  for (;;) {
    const token = input.byte();
    const literals = input.length(token >> 4);
    // The comparison is false for NaN, too.
    if (!(literals <= length - at)) return undefined;
    const copied = input.bytes(literals);
    if (copied.length < literals) return undefined;
    chunk.set(copied, at);
    at += literals;
    // Only literals end a block.
    if (input.isAtEnd) return !Number.isNaN(token) && at === length ? chunk : undefined;
    const offset = input.byte() + 256 * input.byte();
    const match = MIN_MATCH + input.length(token & MORE);
    if (!(offset > 0 && offset <= at && match <= length - at)) return undefined;
    // Copy byte by byte: a match may repeat its own bytes.
    for (const end = at + match; at < end; at++) chunk[at] = chunk[at - offset] ?? 0;
  }
}
