import type { HeldHead } from '../history/branch-head.js';

/** The commit that a transaction reads, held until the transaction ends. Later commits do not change it. */
export class TransactionBase {
  readonly #held: HeldHead;

  constructor(held: HeldHead) {
    this.#held = held;
  }

  get commitBytes(): Uint8Array {
    return this.#held.head.commitBytes;
  }

  get view(): number {
    return this.#held.head.view;
  }

  /** Releases the commit when the transaction reads no more. */
  close(): void {
    this.#held.release();
  }
}
