/** Reads the parts of a proof of one key, to draw them: only `verifySumProof` says whether it holds. */

/** Levels of a sum tree. */
export const LEVELS = 256;

const NODE_BYTES = 40;
const HASH_BYTES = 32;

/** A subtree next to the path from a leaf to the root. */
export interface Sibling {
  /** Its distance from the root. */
  readonly depth: number;
  /** The sum of all leaves in it. */
  readonly sum: bigint;
}

/** Reads the siblings of a proof, from the root down; `undefined` when its parts do not fit together. */
export function siblingsOf(proof: Uint8Array): readonly Sibling[] | undefined {
  if (proof.length < 2) return undefined;
  const view = new DataView(proof.buffer, proof.byteOffset, proof.length);
  const told = view.getUint16(0);
  const bitmap = 2 + NODE_BYTES * told;
  if (proof.length !== bitmap + LEVELS / 8) return undefined;
  const found: Sibling[] = [];
  for (let bit = 0; bit < LEVELS; bit++) {
    const isEmpty = (view.getUint8(bitmap + (bit >> 3)) >> (bit & 7)) & 1;
    if (isEmpty) continue;
    if (found.length === told) return undefined;
    const sum = view.getBigUint64(2 + NODE_BYTES * found.length + HASH_BYTES);
    found.push({ depth: LEVELS - bit, sum });
  }
  return found.length === told ? found.reverse() : undefined;
}

/** Returns the sides to which a key goes from the root down; 0 is left. */
export function sidesOf(key: Uint8Array): readonly number[] {
  return Array.from({ length: LEVELS }, (_, depth) => ((key[depth >> 3] ?? 0) >> (depth & 7)) & 1);
}

/** Returns the sums on the path, from the root down to the last sibling, and below it. */
export function sumsOnTheWay(siblings: readonly Sibling[], leaf: bigint): readonly bigint[] {
  const depth = siblings.at(-1)?.depth ?? 0;
  const sums = [leaf];
  let sum = leaf;
  for (let at = depth, left = siblings.length - 1; at > 0; at--) {
    if (siblings[left]?.depth === at) sum += siblings[left--]?.sum ?? 0n;
    sums.unshift(sum);
  }
  return sums;
}
