/**
 * The hash rules of the Merkle-sum sparse Merkle tree of taproot-assets, see `docs/sum-tree.md`. The core has its own
 * code in `crate/sums/src/rules.rs`.
 *
 * A sum is two halves of 32 bits, since a `bigint` would be an allocation for each level.
 */
import { _SHA256, sha256 } from '@noble/hashes/sha2.js';

/** Levels of branches. */
export const DEPTH = 256;

/** Bytes of a hash. */
export const SHA256_BYTES = 32;

/** The two SHA-256 blocks of a branch: the hashes of its sides, its sum, and padding. */
const BLOCKS = /* @__PURE__ */ new Uint8Array(128);
const VIEW = /* @__PURE__ */ new DataView(BLOCKS.buffer);

/** The left and the right hash of the branch that is hashed next. */
export const SIDES = /* @__PURE__ */ [0, 1].map((side) =>
  BLOCKS.subarray(side * SHA256_BYTES, (side + 1) * SHA256_BYTES),
);

/** SHA-256 of branches only: it hashes `BLOCKS` in place, including the padding. */
class Branches extends _SHA256 {
  readonly #start = this.get();

  hash(high: number, low: number, side: number): void {
    VIEW.setUint32(64, high);
    VIEW.setUint32(68, low);
    VIEW.setUint8(72, 0x80);
    VIEW.setUint32(124, 72 * 8);
    this.set(...this.#start);
    this.process(VIEW, 0);
    this.process(VIEW, 64);
    let at = side * SHA256_BYTES;
    for (const word of this.get()) {
      VIEW.setUint32(at, word);
      at += 4;
    }
  }
}

let branches: Branches | undefined;

/** Hashes the branch over {@link SIDES}, and writes the hash to `SIDES[side]`. */
export function hashBranch(high: number, low: number, side: number): void {
  branches ??= new Branches();
  branches.hash(high, low, side);
}

/** Hashes a leaf. */
export function hashLeaf(value: Uint8Array, high: number, low: number): Uint8Array {
  const sum = new Uint8Array(8);
  const view = new DataView(sum.buffer);
  view.setUint32(0, high);
  view.setUint32(4, low);
  return sha256.create().update(value).update(sum).digest();
}

let made: readonly Uint8Array[] | undefined;

/** Returns the hashes of empty subtrees, by their depth, from 0 to 256. */
export function emptyHashes(): readonly Uint8Array[] {
  if (made !== undefined) return made;
  const hashes = [hashLeaf(new Uint8Array(), 0, 0)];
  for (let depth = DEPTH; depth > 0; depth--) {
    for (const side of SIDES) side.set(hashes[0]!);
    hashBranch(0, 0, 0);
    hashes.unshift(SIDES[0]!.slice());
  }
  made = hashes;
  return hashes;
}

/** Returns the side of a key at a depth: 0 is left, 1 is right. */
export function sideOf(key: Uint8Array, depth: number): number {
  return (key[depth >> 3]! >> (depth & 7)) & 1;
}

/** Returns the depth at which the paths of two keys part; 256 for equal keys. */
export function partingOf(a: Uint8Array, b: Uint8Array): number {
  for (let at = 0; at < a.length; at++) {
    const differing = a[at]! ^ b[at]!;
    if (differing !== 0) return 8 * at + 31 - Math.clz32(differing & -differing);
  }
  return DEPTH;
}
