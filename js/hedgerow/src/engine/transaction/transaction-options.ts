/** The options of transactions, and their checks. */

import {
  anything,
  durabilityCheck,
  type OptionsOf,
  signalCheck,
} from '../../base/check-options.js';

export const TRANSACTION_OPTIONS = {
  /** Ends the transaction with `aborted`; it writes no row, unless storage already has its commit. */
  signal: signalCheck,
  /** Overrides the durability of the store. */
  durability: durabilityCheck,
};

/** Options of a transaction. */
export interface TransactionOptions extends OptionsOf<typeof TRANSACTION_OPTIONS> {}

export const COMMIT_OPTIONS = {
  /** Keeps both commits from being collected, until the result is closed, or until the handle's store closes. */
  keep: anything<boolean>(),
  ...TRANSACTION_OPTIONS,
};

/** Options of `commit`. */
export interface CommitOptions extends TransactionOptions, OptionsOf<typeof COMMIT_OPTIONS> {}
