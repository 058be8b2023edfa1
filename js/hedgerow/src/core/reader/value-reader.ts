/** Writes the value of an entry to an output; one that is out of line piece by piece, within a budget. */
import * as ChunkKind from '../../base/abi/chunk-kind.js';
import * as ChunkSize from '../../base/abi/chunk-size.js';
import * as Field from '../../base/abi/field.js';
import * as Status from '../../base/abi/status.js';
import type { Budget } from './budget.js';
import { readU32 } from './bytes-view.js';
import type { ChunkCache } from './chunk-cache.js';
import { Fault, Need } from './fault.js';
import { BYTES, entryValue, type Node, OUT_OF_LINE, tagAt } from './node.js';
import type { ByteList, Output } from './output.js';

const HEADER = ChunkSize.headerBytes;
const HASH = ChunkSize.hashBytes;
const PIECE = ChunkSize.pieceBytes;

function wrongLength(hash: Uint8Array, expected: number, got: number): Fault {
  const malformed = { field: Field.length, offset: HEADER, expected, got };
  return new Fault(Status.corruptChunk, hash, malformed);
}

/** Reads a value that is out of line. */
class PieceReader {
  readonly #length: number;
  readonly #hash: Uint8Array;
  #hashes: Uint8Array[] | undefined;
  #next = 0;

  constructor(reference: Uint8Array) {
    this.#length = readU32(reference, 0);
    this.#hash = reference.subarray(4);
  }

  #list(cache: ChunkCache): Uint8Array[] {
    if (this.#length <= PIECE) return [this.#hash];
    const hashes = cache.chunk(this.#hash, ChunkKind.pieceList).subarray(HEADER);
    const expected = Math.ceil(this.#length / PIECE) * HASH;
    if (hashes.length !== expected) throw wrongLength(this.#hash, expected, hashes.length);
    return Array.from({ length: expected / HASH }, (_, at) =>
      hashes.subarray(HASH * at, HASH * (at + 1)),
    );
  }

  /** Appends at least one piece; returns whether the value is complete. */
  step(cache: ChunkCache, budget: Budget, out: ByteList): boolean {
    this.#hashes ??= this.#list(cache);
    const hashes = this.#hashes;
    for (const first = this.#next; this.#next < hashes.length; this.#next++) {
      if (this.#next > first && budget.isSpent) return false;
      const hash = hashes[this.#next] as Uint8Array;
      let piece: Uint8Array;
      try {
        piece = cache.chunk(hash, ChunkKind.piece).subarray(HEADER);
      } catch (cause) {
        if (!(cause instanceof Need)) throw cause;
        throw cache.needAlso(cause, cache.wantsOf(hashes.slice(this.#next + 1)));
      }
      const expected = Math.min(this.#length - this.#next * PIECE, PIECE);
      if (piece.length !== expected) throw wrongLength(hash, expected, piece.length);
      out.append(piece);
      budget.spend(2 * piece.length);
    }
    return true;
  }
}

/** Writes values to an output, one after the other. */
export class ValueWriter {
  #reading: { reader: PieceReader; isBytes: boolean; to: ByteList } | undefined;

  /** Writes the value of an entry of a leaf, or begins to: then `rest` writes it. */
  write(leaf: Node, index: number, out: Output): void {
    const tag = tagAt(leaf, index);
    const isBytes = (tag & BYTES) !== 0;
    const value = entryValue(leaf, index);
    const to = out.beginValue(isBytes);
    if ((tag & OUT_OF_LINE) !== 0) {
      this.#reading = { reader: new PieceReader(value), isBytes, to };
      return;
    }
    to.append(value);
    out.endValue(isBytes);
  }

  /** Whether a value was begun and is not complete. */
  get isReading(): boolean {
    return this.#reading !== undefined;
  }

  /** Writes the rest of the value that was begun, if any; returns whether it is complete. */
  rest(cache: ChunkCache, budget: Budget, out: Output): boolean {
    const reading = this.#reading;
    if (reading === undefined) return true;
    if (!reading.reader.step(cache, budget, reading.to)) return false;
    out.endValue(reading.isBytes);
    this.#reading = undefined;
    return true;
  }
}
