/** Verifies proofs of rows: a page that only verifies loads this file, and no store. */

import { part } from '../base/dynamic-import.js';

type Reads = typeof import('../engine/read/on-demand-read-bundle.js');

/**
 * Resolves to what `proof` shows under `root`, as `db.root` shows it: the value of a key, or that it has no value; or
 * all rows of a range. Needs no store and no storage. Rejects with `invalid-data/proof` if `proof` is not the one proof of
 * this under this root.
 *
 * Returns a promise, since the first call compiles the core, and large proofs are verified in slices. Costs a hash and
 * a check of each chunk; verifies at most 128 MiB.
 */
export const verifyProof = (async (...args: Parameters<Reads['verifyProof']>): Promise<unknown> => {
  const { verifyProof: verified } = await part(
    () => import('../engine/read/on-demand-read-bundle.js'),
  );
  return verified(...args);
}) as unknown as Reads['verifyProof'];
