/**
 * What is hashed, and how: the rules of the Merkle-sum sparse Merkle tree of taproot-assets, told in
 * `docs/sum-tree.md`. The core has them in `crate/src/sum_tree/rules.rs`; these share nothing with it.
 *
 * A sum is two halves of 32 bits: `bigint` would cost more than the hashing around it.
 */
import { sha256 } from '@noble/hashes/sha2.js';

/** Levels of branches. */
export const DEPTH = 256;

/** Bytes of a hash. */
export const HASH_BYTES = 32;

/** A hasher that nothing was given to, and the one that goes on from there, again and again. */
const START = /* @__PURE__ */ sha256.create();
const hasher = /* @__PURE__ */ sha256.create();

const sumBytes = /* @__PURE__ */ new Uint8Array(8);

/** Writes the hash of what was given to `hasher` and a sum after it. */
function finish(high: number, low: number, out: Uint8Array): void {
  for (let at = 0; at < 4; at++) {
    sumBytes[at] = high >>> (24 - 8 * at);
    sumBytes[at + 4] = low >>> (24 - 8 * at);
  }
  hasher.update(sumBytes).digestInto(out);
}

/** Writes the hash of a leaf to `out`. */
export function hashLeaf(value: Uint8Array, high: number, low: number, out: Uint8Array): void {
  START._cloneInto(hasher).update(value);
  finish(high, low, out);
}

/** Writes the hash of a branch over two hashes to `out`, which may be one of them. */
export function hashBranch(
  left: Uint8Array,
  right: Uint8Array,
  high: number,
  low: number,
  out: Uint8Array,
): void {
  START._cloneInto(hasher).update(left).update(right);
  finish(high, low, out);
}

let made: readonly Uint8Array[] | undefined;

/** The hashes of empty subtrees, by the depth at which they stand, from 0 to 256. */
export function emptyHashes(): readonly Uint8Array[] {
  if (made !== undefined) return made;
  const hashes = Array.from({ length: DEPTH + 1 }, () => new Uint8Array(HASH_BYTES));
  hashLeaf(new Uint8Array(), 0, 0, hashes[DEPTH]!);
  for (let depth = DEPTH - 1; depth >= 0; depth--) {
    const below = hashes[depth + 1]!;
    hashBranch(below, below, 0, 0, hashes[depth]!);
  }
  made = hashes;
  return hashes;
}

/** The side to which a key goes at a depth: 0 is left. */
export function sideOf(key: Uint8Array, depth: number): number {
  return (key[depth >> 3]! >> (depth & 7)) & 1;
}

/** The depth at which two keys part; 256 for a key and itself. */
export function partingOf(a: Uint8Array, b: Uint8Array): number {
  for (let at = 0; at < a.length; at++) {
    const differing = a[at]! ^ b[at]!;
    if (differing !== 0) return 8 * at + 31 - Math.clz32(differing & -differing);
  }
  return DEPTH;
}
