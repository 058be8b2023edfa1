/** The rows of a source of bytes, as objects. */

import type { ByteFormat } from '../../base/byte-source.js';
import { HedgerowError } from '../../base/errors.js';
import { isBuffer, isPart } from '../../base/is-byte-array.js';
import { kindOf } from '../../base/runtime-type-checks.js';
import { JsonRowSplitter } from './json-row-splitter.js';

/** Bytes that are cut at once: a part may be the whole source. */
const PIECE_BYTES = 64 << 10;

/** The rows of bytes, which it takes a piece at a time. */
export class RowsIn {
  readonly #cutter: JsonRowSplitter;
  #part: Uint8Array = new Uint8Array();
  #at = 0;
  #rows: unknown[] = [];
  #next = 0;
  #isEnded = false;
  /** The number of bytes that were cut. */
  bytes = 0;

  constructor(format: ByteFormat | undefined, mostBytes?: number) {
    this.#cutter = new JsonRowSplitter(format, mostBytes);
  }

  /** Takes a result of the source of bytes. Throws `invalid-argument` if its value is not bytes. */
  take({ done, value }: IteratorResult<unknown>): void {
    if (done === true) {
      this.#isEnded = true;
      this.#cutter.end();
      this.#part = new Uint8Array();
    } else if (isPart(value)) {
      this.#part = isBuffer(value) ? new Uint8Array(value) : value;
    } else {
      throw new HedgerowError('invalid-argument', `a part of the bytes is ${kindOf(value)}`);
    }
    this.#at = 0;
  }

  /** Whether there is a row to take; if not, it needs more bytes, unless they have ended. Throws `invalid-data/row`. */
  get hasRow(): boolean {
    while (this.#next >= this.#rows.length) {
      this.#rows = this.#cutter.take();
      this.#next = 0;
      if (this.#rows.length > 0) return true;
      if (this.#at >= this.#part.length) return false;
      const piece = this.#part.subarray(this.#at, this.#at + PIECE_BYTES);
      this.#at += PIECE_BYTES;
      this.bytes += piece.length;
      this.#cutter.add(piece);
    }
    return true;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get row(): unknown {
    return this.#rows[this.#next++];
  }
}
