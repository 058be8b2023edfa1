/**
 * Reads the packed form of a chunk in a segment: an LZ4 block, https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md.
 * The core packs and unpacks; this is for what reads segments beside it. A damaged form is refused, whatever it is: it
 * neither throws nor takes more memory than the longest packed chunk.
 */

import { MAX_PACKED_CHUNK_BYTES } from './limits.js';

/** What a length of four bits means if all are set: more of it follows. */
const MORE = 15;
/** Shorter matches are not made, so their lengths count from here. */
const MIN_MATCH = 4;

/** Reads the bytes of a block from the first to the last. */
class Input {
  #at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** The next byte; after the last one not a number, and so is what is made of it. */
  byte(): number {
    return this.#bytes[this.#at++] ?? Number.NaN;
  }

  /** A length that begins with four bits; each byte after 255 adds to it. */
  length(bits: number): number {
    if (bits < MORE) return bits;
    let [length, byte] = [bits, 255];
    while (byte === 255) {
      byte = this.byte();
      length += byte;
    }
    return length;
  }

  /** The next bytes; fewer if there are not that many. */
  bytes(length: number): Uint8Array {
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return bytes;
  }
}

/** The chunk of `length` bytes of which a segment has `stored`: packed, if that is shorter; `undefined` if it is damaged. */
export function chunkFrom(stored: Uint8Array, length: number): Uint8Array | undefined {
  return stored.length < length ? unpackChunk(stored, length) : stored;
}

/** The chunk of `length` bytes of which `stored` is the packed form; `undefined` if it is none. */
export function unpackChunk(stored: Uint8Array, length: number): Uint8Array | undefined {
  if (!(length >= 0 && length <= MAX_PACKED_CHUNK_BYTES)) return undefined;
  const input = new Input(stored);
  const chunk = new Uint8Array(length);
  let at = 0;
  for (;;) {
    const token = input.byte();
    const literals = input.length(token >> 4);
    // Not a number is not at most what is left, either.
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
    // Byte by byte: a match may repeat what it makes itself.
    for (const end = at + match; at < end; at++) chunk[at] = chunk[at - offset] ?? 0;
  }
}
