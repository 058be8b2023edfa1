import { AbortableWait } from '../../base/abortable-wait.js';
import type { ByteSource } from '../../base/byte-source.js';
import { HedgerowError } from '../../base/errors.js';
import { isPart } from '../../base/is-byte-array.js';
import { turn } from '../../base/slice-queue.js';
import type { OpenSource } from '../write/opened-source.js';
import { openSource } from '../write/row-source.js';
import { type ByteInput, invalid } from './format.js';

/** Reads pieces of any length from a source of bytes, and keeps one part of the source in memory at a time. */
export class ByteReader implements ByteInput {
  readonly #source: OpenSource<unknown>;
  readonly #wait: AbortableWait;
  readonly #sliceMs: number;
  #part: Uint8Array = new Uint8Array();
  #used = 0;
  #at: number;
  #isOver = false;
  #startMs = performance.now();

  private constructor(
    source: OpenSource<unknown>,
    at: number,
    signal: AbortSignal | undefined,
    sliceMs: number,
  ) {
    this.#source = source;
    this.#at = at;
    this.#wait = new AbortableWait(signal);
    this.#sliceMs = sliceMs;
  }

  /** Opens a source whose first byte is at offset `at` of the export. */
  static async open(
    source: ByteSource,
    at: number,
    signal: AbortSignal | undefined,
    sliceMs: number,
  ): Promise<ByteReader> {
    return new ByteReader(await openSource(source, signal, true), at, signal, sliceMs);
  }

  /** The offset of the next byte in the export. */
  get at(): number {
    return this.#at;
  }

  /** Sets the offset of the next byte, when the source turned out to begin elsewhere. */
  restartAt(at: number): void {
    this.#at = at;
  }

  async take(length: number): Promise<Uint8Array> {
    const taken = new Uint8Array(length);
    for (let filled = 0; filled < length; ) {
      if (this.#used === this.#part.length && !(await this.#next())) {
        throw invalid('the export ends too early', this.#at);
      }
      const end = this.#used + length - filled;
      const piece = this.#part.subarray(this.#used, end);
      taken.set(piece, filled);
      filled += piece.length;
      this.#used += piece.length;
      this.#at += piece.length;
    }
    return taken;
  }

  /** Resolves to whether no byte follows. */
  async isAtEnd(): Promise<boolean> {
    while (this.#used === this.#part.length) if (!(await this.#next())) return true;
    return false;
  }

  async #next(): Promise<boolean> {
    // Without a turn, a source with all its bytes in memory would block the page.
    if (performance.now() - this.#startMs > this.#sliceMs / 2) {
      await this.#wait.for(turn());
      this.#startMs = performance.now();
    }
    if (this.#isOver) return false;
    const { done, value } = await this.#wait.for(Promise.resolve(this.#source.read()));
    this.#part = new Uint8Array();
    this.#used = 0;
    if (done === true) {
      this.#isOver = true;
      return false;
    }
    if (!isPart(value))
      throw new HedgerowError(
        'invalid-argument',
        'importStore: the source must give bytes, as a Uint8Array or ArrayBuffer',
      );
    this.#part = value instanceof Uint8Array ? value : new Uint8Array(value);
    return true;
  }

  /** Ends the source, even while it waits. */
  end(): void {
    this.#wait.end();
    this.#source.end();
    this.#isOver = true;
  }
}
