/**
 * Verifies proofs of sum trees, given only a root: without a store, WebAssembly or promises.
 * `docs/sum-tree.md` describes the rules and the bytes.
 */

import { HedgerowError } from '../../base/errors.js';
import { isByteArray } from '../../base/is-byte-array.js';
import { membersOf } from '../../base/key.js';
import { parseRoot } from '../../base/root-hash.js';
import { kindOf, memberOf } from '../../base/runtime-type-checks.js';
import { DEPTH, hashLeaf, partingOf, sideOf } from './node-hash.js';
import { RootHasher, type Subtree } from './root-hasher.js';
import { Siblings } from './siblings.js';
import { sumKeyBytes } from './sum-tree-key.js';

export { HedgerowError } from '../../base/errors.js';
export { sumKey } from './sum-tree-key.js';

/** The root of a sum tree: its hash in hexadecimal, and the sum of all its leaves. */
export interface SumRoot {
  readonly hash: string;
  readonly sum: bigint;
}

/** The leaf of a key. */
export interface SumLeaf {
  readonly value: Uint8Array;
  /** At least 0 and below 2 ** 64. */
  readonly sum: bigint;
}

/** A key of 32 bytes, or a string that `sumKey` turns into one. */
export type SumKey = Uint8Array | string;

/**
 * Returns whether `proof` shows that the tree of `root` holds `claim` under `key`, or no leaf if `claim` is `null`.
 * Each claim has exactly one valid proof: any other bytes give `false`. A claim that no tree can hold, and a sum of
 * 2 ** 64 or more on the path, also give `false`.
 *
 * Throws only for malformed arguments: `invalid-argument` for a malformed root, or a claim that is
 * neither `null` nor a value with a sum; `invalid-argument/key` for a malformed key; `invalid-data/proof` for a
 * proof that is not a `Uint8Array`.
 */
export function verifySumProof(
  root: SumRoot,
  key: SumKey,
  claim: SumLeaf | null,
  proof: Uint8Array,
): boolean {
  return verify(root, [[key, claim]], proof, 2);
}

/**
 * Verifies one proof of `proveMany` for many keys, as `verifySumProof` does for one. Returns `false` unless all claims
 * hold, if two claims have the same key, and if the list is empty. Synchronous: each key takes as long as its own proof
 * would.
 */
export function verifySumProofs(
  root: SumRoot,
  claims: Iterable<readonly [key: SumKey, claim: SumLeaf | null]>,
  proof: Uint8Array,
): boolean {
  return verify(root, claims, proof, 4);
}

/** The claimed leaf of a key. */
interface Claim {
  readonly key: Uint8Array;
  readonly leaf: Subtree;
}

function verify(
  root: SumRoot,
  claims: Iterable<readonly [SumKey, SumLeaf | null]>,
  proof: Uint8Array,
  width: 2 | 4,
): boolean {
  // Read all arguments before hashing: an iterator of claims may reuse its memory.
  const [hex, sum] = [memberOf(root, 'hash'), memberOf(root, 'sum')] as [string, bigint];
  const hash = parseRoot(hex);
  if (typeof sum !== 'bigint' || !isSum(sum)) {
    throw new HedgerowError('invalid-argument', 'the sum of a root is a bigint of 64 bits');
  }
  const read: Claim[] = [];
  let canHold = true;
  for (const pair of membersOf('a proof', claims)) {
    if (!Array.isArray(pair)) throw noClaims();
    const [key, claim]: readonly [SumKey, SumLeaf | null] = pair;
    const keyBytes = Uint8Array.from(sumKeyBytes(key));
    const leaf = leafOf(claim);
    if (leaf === undefined) canHold = false;
    else read.push({ key: keyBytes, leaf });
  }
  if (!isByteArray(proof)) {
    throw new HedgerowError('invalid-data/proof', `a proof is a Uint8Array, not ${kindOf(proof)}`);
  }
  return canHold && holds(hash, sum, read, new Siblings(proof, width));
}

function holds(hash: Uint8Array, sum: bigint, claims: Claim[], siblings: Siblings): boolean {
  // Sort from left to right. In each byte of a key, the lowest bit comes first.
  claims.sort((a, b) => {
    const parting = partingOf(a.key, b.key);
    return parting === DEPTH ? 0 : sideOf(a.key, parting) * 2 - 1;
  });
  if (claims.length === 0) return false;
  const climb = new RootHasher(siblings);
  for (const [at, { key, leaf }] of claims.entries()) {
    const next = claims[at + 1];
    const parting = next === undefined ? -1 : partingOf(key, next.key);
    if (parting === DEPTH || !climb.up(key, leaf, parting + 1)) return false;
  }
  if (!siblings.isAtEnd()) return false;
  const { high, low } = climb;
  if (high !== highOf(sum) || low !== lowOf(sum)) return false;
  return climb.hash.every((byte, at) => byte === hash[at]);
}

function noClaims(): HedgerowError {
  return new HedgerowError('invalid-argument', 'claims must be pairs of a key and a leaf, or null');
}

/** Returns the leaf of a claim; `undefined` if no tree can hold it. */
function leafOf(claim: SumLeaf | null): Subtree | undefined {
  if (claim === null) return { hash: undefined, high: 0, low: 0 };
  const [value, sum] = [memberOf(claim, 'value'), memberOf(claim, 'sum')];
  if (!isByteArray(value) || typeof sum !== 'bigint') {
    throw new HedgerowError(
      'invalid-argument',
      'a claim is null, or a value that is a Uint8Array and a sum that is a bigint',
    );
  }
  // An absent key is a leaf with an empty value and the sum 0.
  if (!isSum(sum) || (value.length === 0 && sum === 0n)) return undefined;
  const [high, low] = [highOf(sum), lowOf(sum)];
  return { hash: hashLeaf(value, high, low), high, low };
}

const isSum = (sum: bigint) => BigInt.asUintN(64, sum) === sum;
const highOf = (sum: bigint) => Number(sum >> 32n);
const lowOf = (sum: bigint) => Number(sum & 0xffff_ffffn);
