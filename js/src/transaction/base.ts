import type { HeldHead } from '../history/branch-head.js';

/**
 * The commit that a transaction reads, whatever is committed meanwhile.
 *
 * All that must be kept for a transaction is taken and given back here.
 */
export class Base {
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

  /** No read of it comes any more. */
  close(): void {
    this.#held.release();
  }
}
