/** A known segment: its table, and the chunks of it that are in memory. */
import { chunkFrom } from '../../base/unpack-chunk.js';
import type { Want } from './fault.js';
import type { ChunkTable } from './table.js';

/** A known segment. */
export class Segment {
  readonly id: number;
  readonly table: ChunkTable;
  /** The bytes of the whole, while they are in memory. */
  #whole: Uint8Array | undefined;
  /** Chunks in memory by their index, unpacked. */
  readonly #chunks = new Map<number, Uint8Array>();
  /** The chunks in memory whose hashes and forms are checked. */
  readonly checked = new Set<number>();
  /** The chunks that were found damaged, until they are read again. */
  readonly damaged = new Set<number>();
  /** When it was last used. */
  used = 0;
  /** Bytes in memory, packed and unpacked. */
  size = 0;

  constructor(id: number, table: ChunkTable) {
    this.id = id;
    this.table = table;
  }

  /** Returns whether a chunk is at a remote. */
  isRemote(index: number): boolean {
    return index >= this.table.here;
  }

  /** The number of chunks that are in memory without the whole. */
  get parts(): number {
    return this.#whole === undefined ? this.#chunks.size : 0;
  }

  /** Returns a chunk in memory, not checked; empty if the segment was cut off before its end, or is damaged there. */
  chunk(index: number): Uint8Array | undefined {
    const found = this.#chunks.get(index);
    if (found !== undefined || this.#whole === undefined || this.isRemote(index)) return found;
    const [start, end] = [this.table.end(index - 1), this.table.end(index)];
    const stored = end <= this.#whole.length ? this.#whole.subarray(start, end) : new Uint8Array();
    return this.#take(index, stored);
  }

  #take(index: number, stored: Uint8Array): Uint8Array {
    const chunk = chunkFrom(stored, this.table.chunkLength(index)) ?? new Uint8Array();
    this.#chunks.set(index, chunk);
    // Without a copy, the chunk is a view of the whole.
    if (chunk !== stored || this.#whole === undefined) this.size += chunk.length;
    return chunk;
  }

  /** Takes all bytes as they are stored. */
  takeWhole(bytes: Uint8Array): void {
    if (this.#whole !== undefined) return;
    this.forget();
    this.damaged.clear();
    this.#whole = bytes;
    this.size = bytes.length;
  }

  /** Takes the chunk that begins at `from`, as it is stored. */
  takePart(from: number, bytes: Uint8Array): void {
    const index = this.table.chunkAt(from);
    if (index < 0 || this.chunk(index) !== undefined) return;
    this.damaged.delete(index);
    this.#take(index, bytes);
  }

  /** The bytes of the whole, while they are in memory. */
  get whole(): Uint8Array | undefined {
    return this.#whole;
  }

  /** Forgets all chunks in memory. */
  forget(): void {
    this.#whole = undefined;
    this.#chunks.clear();
    this.checked.clear();
    this.size = 0;
  }

  /** Returns what a read of a chunk that is not in memory needs; the whole segment if `isRun`. */
  wantOf(index: number, isRun: boolean): Want {
    const { table, id } = this;
    const end = table.end(index);
    if (this.isRemote(index)) return [id, table.end(index - 1), -end];
    return isRun || table.count === 1 ? [id, 0, 0] : [id, table.end(index - 1), end];
  }
}
