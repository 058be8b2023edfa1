/** The memory of a reader, in place of the linear memory of the core: the reply, the scratch buffer, and the bytes that they name. */
import * as Size from '../../base/abi/size.js';

const REPLY_BYTES = 8 * Size.replyWords;

/** Rounds up, so that numbers of 64 bits may follow. */
const roundUp = (bytes: number) => Math.ceil(bytes / 8) * 8;

/** The memory of a reader. */
export class Arena {
  /** As `WebAssembly.Memory`: the buffer is replaced when it grows. */
  readonly memory = { buffer: new ArrayBuffer(64 << 10) };
  #scratchLength = 0;

  /** Makes room for the bytes up to `end`. */
  #reserve(end: number): void {
    const { buffer } = this.memory;
    if (end <= buffer.byteLength) return;
    const grown = new ArrayBuffer(roundUp(Math.max(end, 2 * buffer.byteLength)));
    new Uint8Array(grown).set(new Uint8Array(buffer));
    this.memory.buffer = grown;
  }

  /** Returns the address of a scratch buffer of this length. */
  scratch(length: number): number {
    this.#scratchLength = Math.max(this.#scratchLength, roundUp(length));
    this.#reserve(REPLY_BYTES + this.#scratchLength);
    return REPLY_BYTES;
  }

  /** The first bytes of the scratch buffer. */
  readScratch(length: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, REPLY_BYTES, length);
  }

  /** Copies lists of bytes or numbers; returns the address of each. */
  put(...lists: readonly (Uint8Array | Uint32Array | Float64Array)[]): number[] {
    let at = REPLY_BYTES + this.#scratchLength;
    const addresses = lists.map(({ byteLength }) => {
      const address = at;
      at += roundUp(byteLength);
      return address;
    });
    this.#reserve(at);
    const memory = new Uint8Array(this.memory.buffer);
    for (const [index, { buffer, byteOffset, byteLength }] of lists.entries()) {
      memory.set(new Uint8Array(buffer, byteOffset, byteLength), addresses[index]);
    }
    return addresses;
  }

  /** Sets words of the reply, from the index `from` on. */
  tell(from: number, ...words: readonly number[]): void {
    new Float64Array(this.memory.buffer, 0, Size.replyWords).set(words, from);
  }
}
