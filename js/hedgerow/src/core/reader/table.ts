/**
 * The table of a segment: `docs/format.md` draws it, `crate/trees/src/segment/table.rs` reads it in the core.
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
const HEADER_WORDS = TABLE_HEADER_BYTES / 4;
const HASH_WORDS = 8;

/** The table of a segment. */
export class ChunkTable {
  readonly bytes: Uint8Array;
  /** The same as little-endian numbers of 32 bits, in the order of every machine with a browser. */
  readonly #words: Uint32Array;
  readonly #hashes: Uint32Array;
  #isSound: boolean | undefined;
  /** The number of chunks, at least 1. */
  readonly count: number;
  /** The number of chunks in the segment; the chunks after them are at a remote. */
  readonly here: number;

  /** Takes bytes, and checks the header and the length. Throws `MalformedBytes`. */
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
    this.#hashes = this.#words.subarray(HEADER_WORDS, HEADER_WORDS + HASH_WORDS * this.count);
  }

  /** Whether the places and lengths of all chunks can be right. The first find of a chunk checks them. */
  get isSound(): boolean {
    this.#isSound ??= this.#check();
    return this.#isSound;
  }

  #check(): boolean {
    for (let index = 0, start = 0; index < this.count; index++) {
      const end = this.end(index);
      const [stored, own] = [end - start, this.chunkLength(index)];
      const mayBePacked = index < this.here && own <= MAX_PACKED_CHUNK_BYTES;
      if (stored <= 0 || (own !== stored && !(mayBePacked && own > stored))) return false;
      start = end;
    }
    return true;
  }

  /** Returns the index of a number after the hashes, among all numbers. */
  #wordAt(index: number): number {
    return HEADER_WORDS + HASH_WORDS * this.count + index;
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

  /** Yields the chunks with this hash, which begins with the number `start`. */
  *chunksOf(hash: Uint8Array, start: number): Generator<number, void, void> {
    let at = -1;
    for (;;) {
      // The engine searches far faster than a map of all hashes is built.
      at = this.#hashes.indexOf(start, at + 1);
      if (at < 0) return;
      const from = TABLE_HEADER_BYTES + 4 * at;
      const isHash = hash.every((byte, offset) => byte === this.bytes[from + offset]);
      if (isHash && at % HASH_WORDS === 0) yield at / HASH_WORDS;
    }
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
