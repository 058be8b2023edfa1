/** Hashes from leaves up to the root of their tree, from left to right. */
import { DEPTH, emptyHashes, hashBranch, SIDES, sideOf } from './node-hash.js';
import { EMPTY, NONE, type Siblings } from './siblings.js';

/** A subtree: its hash (`undefined` if it is empty), and the halves of its sum. */
export interface Subtree {
  readonly hash: Uint8Array | undefined;
  readonly high: number;
  readonly low: number;
}

/** A subtree that waits for its sibling, under a branch at `depth`. */
interface PendingSubtree extends Subtree {
  readonly depth: number;
}

/** One verification. All instances hash in the same memory: finish one before the next begins. */
export class RootHasher {
  /** The subtree that `up` has reached: its hash and the halves of its sum. */
  hash: Uint8Array = SIDES[0]!;
  high = 0;
  low = 0;
  readonly #siblings: Siblings;
  readonly #waiting: PendingSubtree[] = [];

  constructor(siblings: Siblings) {
    this.#siblings = siblings;
  }

  /**
   * Hashes from a leaf up to the subtree at depth `top`, which then waits for its sibling, unless it is the root.
   * Returns `false` if a sibling is missing or malformed, or a sum exceeds 64 bits.
   */
  up(key: Uint8Array, leaf: Subtree, top: number): boolean {
    const empties = emptyHashes();
    const siblings = this.#siblings;
    const waiting = this.#waiting;
    let { high, low } = leaf;
    let isEmpty = leaf.hash === undefined;
    // The hash of a subtree with leaves is always in its place in the branch above.
    let side = sideOf(key, DEPTH - 1);
    if (leaf.hash !== undefined) SIDES[side]!.set(leaf.hash);
    for (let depth = DEPTH - 1; depth >= top; depth--) {
      const own = SIDES[side]!;
      const other = SIDES[1 - side]!;
      const empty = empties[depth + 1]!;
      const above = depth === 0 ? 0 : sideOf(key, depth - 1);
      side = above;
      let otherIsEmpty: boolean;
      if (waiting.length > 0 && waiting[waiting.length - 1]!.depth === depth) {
        const { hash, ...sum } = waiting.pop()!;
        otherIsEmpty = hash === undefined;
        if (hash !== undefined) other.set(hash);
        high += sum.high;
        low += sum.low;
      } else {
        const found = siblings.next(other, empty);
        if (found === NONE) return false;
        otherIsEmpty = found === EMPTY;
        if (!otherIsEmpty) {
          high += siblings.high;
          low += siblings.low;
        }
      }
      if (isEmpty && otherIsEmpty) continue;
      if (low > 0xffff_ffff) {
        low -= 0x1_0000_0000;
        high += 1;
      }
      if (high > 0xffff_ffff) return false;
      if (isEmpty) own.set(empty);
      else if (otherIsEmpty) other.set(empty);
      isEmpty = false;
      hashBranch(high, low, above);
    }
    this.hash = isEmpty ? empties[top]! : SIDES[side]!;
    this.high = high;
    this.low = low;
    if (top > 0) {
      const hash = isEmpty ? undefined : this.hash.slice();
      waiting.push({ depth: top - 1, hash, high, low });
    }
    return true;
  }
}
