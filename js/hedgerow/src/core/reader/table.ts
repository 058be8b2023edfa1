/**
 * The table of a segment: `docs/format.md` draws it, `crate/trees/src/segment/table.rs` reads it in the core. It is
 * checked once, when it comes.
 */
import * as Field from '../../base/abi/field.js';
import { FORMAT, MAX_PACKED_CHUNK_BYTES, MAX_SEGMENT_CHUNKS } from '../../base/limits.js';
import {
  Stream,
  TABLE_ENTRY_BYTES,
  TABLE_HEADER_BYTES,
  TABLE_MAGIC,
} from '../../base/segment-table.js';
import { readU16, readU32 } from './bytes-view.js';
import { MalformedBytes } from './fault.js';

const ALL_STREAMS = 7;

/** The table of a segment. */
export class ChunkTable {
  readonly bytes: Uint8Array;
  /** The same as little-endian numbers of 32 bits, in the order of every machine with a browser. */
  readonly #words: Uint32Array;
  /** The number of chunks, at least 1. */
  readonly count: number;
  /** The number of chunks in the segment; the chunks after them are at a remote. */
  readonly here: number;

  /** Takes bytes, and checks all except the hashes. Throws `MalformedBytes`. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    const { length } = bytes;
    if (length < TABLE_HEADER_BYTES)
      throw new MalformedBytes(Field.length, 0, TABLE_HEADER_BYTES, length);
    const magic = readU32(bytes, 0);
    if (magic !== TABLE_MAGIC) throw new MalformedBytes(Field.kind, 0, TABLE_MAGIC, magic);
    const [version = 0, streams = 0] = bytes.subarray(4);
    if (version !== FORMAT) throw new MalformedBytes(Field.version, 4, FORMAT, version);
    if (streams > ALL_STREAMS) throw new MalformedBytes(Field.kind, 5, ALL_STREAMS, streams);
    this.count = readU32(bytes, 8);
    if (this.count === 0 || this.count > MAX_SEGMENT_CHUNKS)
      throw new MalformedBytes(Field.count, 8, MAX_SEGMENT_CHUNKS, this.count);
    const expected = TABLE_HEADER_BYTES + this.count * TABLE_ENTRY_BYTES;
    if (length !== expected) throw new MalformedBytes(Field.length, 8, expected, length);
    const { buffer, byteOffset } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
    this.#words = new Uint32Array(buffer, byteOffset, length / 4);
    const here = readU16(bytes, 6);
    if (here >= this.count) throw new MalformedBytes(Field.count, 6, this.count - 1, here);
    this.here = here || this.count;
    for (let index = 0, start = 0; index < this.count; index++) {
      const end = this.end(index);
      if (end <= start)
        throw new MalformedBytes(Field.offset, 4 * this.#wordAt(index), start + 1, end);
      const [stored, own] = [end - start, this.chunkLength(index)];
      const mayBePacked = index < this.here && own <= MAX_PACKED_CHUNK_BYTES;
      if (own !== stored && !(mayBePacked && own > stored)) {
        const at = 4 * this.#wordAt(this.count + index);
        throw new MalformedBytes(Field.length, at, stored, own);
      }
      start = end;
    }
  }

  /** Returns the index of a number after the hashes, among all numbers. */
  #wordAt(index: number): number {
    return TABLE_HEADER_BYTES / 4 + 8 * this.count + index;
  }

  /** Whether the segment has only internal nodes, commits and pieces of sum trees, as the table says. */
  get hasOnlyInner(): boolean {
    return this.bytes[5] === Stream.inner;
  }

  /** The bytes of the segment, without chunks at a remote. */
  get segmentLength(): number {
    return this.end(this.here - 1);
  }

  /** Returns where the chunk at `index` ends; 0 for the index before the first. */
  end(index: number): number {
    return index < 0 ? 0 : (this.#words[this.#wordAt(index)] as number);
  }

  /** Returns the length of a chunk, unpacked. */
  chunkLength(index: number): number {
    return this.#words[this.#wordAt(this.count + index)] as number;
  }

  /** Returns the first 32 bits of the hash of a chunk. */
  hashStart(index: number): number {
    return this.#words[TABLE_HEADER_BYTES / 4 + 8 * index] as number;
  }

  /** Returns whether a chunk has this hash. */
  hasHash(index: number, hash: Uint8Array): boolean {
    const at = TABLE_HEADER_BYTES + 32 * index;
    return hash.every((byte, offset) => byte === this.bytes[at + offset]);
  }

  /** Returns the chunk that begins at `start`; -1 if no chunk does. */
  chunkAt(start: number): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end(middle - 1) < start) low = middle + 1;
      else high = middle;
    }
    return low < this.count && this.end(low - 1) === start ? low : -1;
  }
}
