/**
 * What is loaded when it is first called: a page does not wait at its start for what it may never
 * use. Each rejects with `not-loaded` when it cannot be had: `preload()` brings all of them early.
 */
import { part } from '../base/parts.js';

type Reads = typeof import('../engine/read/read-parts.js');
type Rescue = typeof import('../engine/repair/rescue.js');

/** Proofs of rows, the changes between two roots, and what a store holds. */
export const readParts = (): Promise<Reads> => part(() => import('../engine/read/read-parts.js'));

/** Verification of what is stored. */
export const verifying = () => part(() => import('../engine/verify/inspect.js'));

/** Repair of what is damaged. */
export const repairing = () => part(() => import('../engine/repair/repair.js'));

/** The health of storage. */
export const loadHealth = () => part(() => import('./health-teller.js'));

/** Both for stores that do not open. */
export const rescuing = (): Promise<Rescue> => part(() => import('../engine/repair/rescue.js'));

/**
 * What `proof` shows of a key, or of a range, under `root`, as `db.root` tells it: its value, or
 * that there is none; all rows of the range. Needs no store and no storage. Rejects with
 * `invalid-proof` when it is not the one proof of this under this root, whatever it is instead.
 *
 * A promise, since the core is compiled at the first call, and since large proofs are verified in
 * slices. Costs a hash and a check of each chunk; 128 MiB are verified at most.
 */
export const verifyProof = (async (...args: Parameters<Reads['verifyProof']>): Promise<unknown> => {
  const { verifyProof: verified } = await readParts();
  return verified(...args);
}) as unknown as Reads['verifyProof'];

/**
 * As `db.verify()`, for a store that does not open. Rejects with `store-not-found` when there is none.
 */
export const verify: Rescue['verifyUnopened'] = async (...args) =>
  (await rescuing()).verifyUnopened(...args);

/**
 * As `db.repair()`, for a store that does not open: one whose newest commit is damaged. Rejects
 * with `store-not-found` when there is none.
 */
export const repair: Rescue['repairUnopened'] = async (...args) =>
  (await rescuing()).repairUnopened(...args);
