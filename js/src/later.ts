/**
 * What is loaded when it is first called: a page does not wait at its start for what it may never
 * use. An app that is to work offline keeps these files at hand as it does its others.
 */
type Proof = typeof import('./proof.js');
type Rescue = typeof import('./rescue.js');

/** Proofs of rows. */
export const proving = (): Promise<Proof> => import('./proof.js');

/** Verification of what is stored. */
export const verifying = (): Promise<typeof import('./inspect.js')> => import('./inspect.js');

/** Repair of what is damaged. */
export const repairing = (): Promise<typeof import('./repair.js')> => import('./repair.js');

/** What gives back the room of what is dead. */
export const collecting = (): Promise<typeof import('./collector.js')> => import('./collector.js');

/** Whether a commit is whole that is no head. */
export const surveying = (): Promise<typeof import('./whole.js')> => import('./whole.js');

/** What a store holds, and the shape of its tree. */
export const counting = (): Promise<typeof import('./stats.js')> => import('./stats.js');

/** Sum trees. */
export const summing = (): Promise<typeof import('./sums/index.js')> => import('./sums/index.js');

const rescuing = (): Promise<Rescue> => import('./rescue.js');

/**
 * What `proof` shows of a key, or of a range, under `root`, as `db.root` tells it: its value, or
 * that there is none; all rows of the range. Needs no store and no storage. Rejects with
 * `invalid-proof` when it is not the one proof of this under this root, whatever it is instead.
 *
 * A promise, since the core is compiled at the first call, and since large proofs are verified in
 * slices. Costs a hash and a check of each chunk; 128 MiB are verified at most.
 */
export const verifyProof = (async (...args: Parameters<Proof['verifyProof']>): Promise<unknown> => {
  const { verifyProof: verified } = await proving();
  return verified(...args);
}) as unknown as Proof['verifyProof'];

/**
 * As `db.verify()`, for a store that does not open. Rejects with `missing` when there is none.
 */
export const verify: Rescue['verify'] = async (...args) => (await rescuing()).verify(...args);

/**
 * As `db.repair()`, for a store that does not open: one whose newest commit is damaged. Rejects
 * with `missing` when there is none.
 */
export const repair: Rescue['repair'] = async (...args) => (await rescuing()).repair(...args);
