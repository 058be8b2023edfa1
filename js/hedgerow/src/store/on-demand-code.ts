/**
 * The parts that load at their first call, so that a page's start does not wait for parts that it may never use. Each
 * call rejects with `unavailable/not-loaded` if its part cannot be loaded; `preload()` loads all of them early.
 */
import { part } from '../base/dynamic-import.js';

type Reads = typeof import('../engine/read/on-demand-read-bundle.js');
type Rescue = typeof import('../engine/repair/repair-unopened-store.js');

/** Loads proofs of rows, the changes between two roots, and statistics. */
export const readParts = (): Promise<Reads> =>
  part(() => import('../engine/read/on-demand-read-bundle.js'));

/** Loads verification. */
export const verifying = () => part(() => import('../engine/verify/verify-store.js'));

/** Loads repair. */
export const repairing = () => part(() => import('../engine/repair/repair.js'));

/** Loads the health of storage. */
export const loadHealth = () => part(() => import('./storage-health-listeners.js'));

/** Loads verification and repair for stores that do not open. */
export const rescuing = (): Promise<Rescue> =>
  part(() => import('../engine/repair/repair-unopened-store.js'));

/** Verifies a store that does not open, as `db.health.verify()` does. Rejects with `not-found/store` if it does not exist. */
export const verifyStore: Rescue['verifyUnopened'] = async (...args) =>
  (await rescuing()).verifyUnopened(...args);

/**
 * Repairs a store that does not open because its newest commit is damaged, as `db.health.repair()` does. Rejects with
 * `not-found/store` if it does not exist.
 */
export const repairStore: Rescue['repairUnopened'] = async (...args) =>
  (await rescuing()).repairUnopened(...args);
