/** Proofs of rows: made from a store, and verified with only a root. `crate/src/proof.rs` describes their contents. */

import { checkRangeOptions, KEY_RANGE } from '../../base/check-options.js';
import { HedgerowError } from '../../base/errors.js';
import { isByteArray } from '../../base/is-byte-array.js';
import { MAX_PROOF_BYTES } from '../../base/limits.js';
import { type EncodedRange, encodeRange, type KeyRange } from '../../base/range.js';
import { parseRoot } from '../../base/root-hash.js';
import { memoryBytes } from '../../core/calls/cache-stats.js';
import { verificationCalls } from '../../core/calls/verification-calls.js';
import type { Host } from '../../core/operation-host.js';
import { startHost } from '../../core/start-host.js';
import type { Head } from '../history/branch-head.js';
import { blocks } from './scan.js';

/** The facts that a proof shows for a key. */
export type ProofResult<Value = unknown> = { readonly value: Value } | { readonly absent: true };

/** The rows that a proof shows for a range, in the order of their keys. */
export interface RangeProofResult<Value = unknown> {
  readonly entries: [key: string, value: Value][];
}

/** Verifiers with more memory than this are dropped: linear memory never shrinks. */
const MAX_KEPT_BYTES = 16 << 20;

/** Encodes a range to prove; a key becomes a range of one key. */
function encodeProved(keyOrRange: string | KeyRange): EncodedRange {
  const isKey = typeof keyOrRange === 'string';
  return encodeRange(
    isKey
      ? { gte: keyOrRange, lte: keyOrRange }
      : checkRangeOptions('prove', keyOrRange, KEY_RANGE),
  );
}

/** Proves a key or a range of a commit that the caller holds. */
export async function proveRows(
  host: Host,
  { commitBytes }: Head,
  keyOrRange: string | KeyRange,
): Promise<Uint8Array> {
  const range = encodeProved(keyOrRange);
  const checks = await verificationCalls(host);
  return host.read(checks.prove(commitBytes, range), () => checks.proof(), checks);
}

/** An instance of the core without a store, shared by all verifications. */
let verifier: Promise<Host> | undefined;

/**
 * Returns the value that `proof` shows for a key under `root` (a `db.root`), or that the key is absent. Needs no store
 * and no storage. Rejects with `invalid-data/proof` unless these bytes are the one valid proof of this key under this
 * root.
 *
 * Asynchronous, since the first call compiles the core, and large proofs are verified in slices. Hashes and checks each
 * chunk. A proof has at most 128 MiB.
 */
export function verifyRowProof<Value = unknown>(
  root: string,
  key: string,
  proof: Uint8Array,
): Promise<ProofResult<Value>>;
/** Returns the rows that `proof` shows for a range; the proof also shows that no row is left out. */
export function verifyRowProof<Value = unknown>(
  root: string,
  range: KeyRange,
  proof: Uint8Array,
): Promise<RangeProofResult<Value>>;
export async function verifyRowProof(
  root: string,
  keyOrRange: string | KeyRange,
  proof: Uint8Array,
): Promise<ProofResult | RangeProofResult> {
  const commitBytes = parseRoot(root);
  const range = encodeProved(keyOrRange);
  if (!isByteArray(proof) || proof.length > MAX_PROOF_BYTES) {
    throw new HedgerowError('invalid-data/proof', 'a proof is a Uint8Array of at most 128 MiB');
  }
  verifier ??= startHost(0, 8);
  const own = verifier;
  const entries: [string, unknown][] = [];
  try {
    const host = await own;
    const start = async () => {
      const runner = await verificationCalls(host);
      return { op: runner.verifyProof(commitBytes, range, proof), runner };
    };
    for await (const members of blocks(host, start, undefined)) {
      for (let at = 0; at < members.length; at += 2) {
        entries.push([members[at] as string, members[at + 1]]);
      }
    }
  } finally {
    const kept = await own.then(
      ({ engine }) => engine.isReady && memoryBytes(engine) <= MAX_KEPT_BYTES,
      () => false,
    );
    if (!kept && verifier === own) verifier = undefined;
  }
  if (typeof keyOrRange !== 'string') return { entries };
  const [entry] = entries;
  return entry === undefined ? { absent: true } : { value: entry[1] };
}
