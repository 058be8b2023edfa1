/** The options of merges and reverts, and their checks. */

import {
  count,
  durabilityCheck,
  fn,
  type OptionsOf,
  signalCheck,
} from '../../base/check-options.js';
import type { Conflict } from '../../base/errors.js';

/** The outcome of a conflict: a value, or `undefined` for no row. */
export type Resolution = unknown;

export const MERGE_OPTIONS = {
  /**
   * Returns the value for a key, `undefined` to delete the row, or a promise of these, which is awaited before the next
   * call. When another writer was first, it may be called again for the same key. When it throws or the promise
   * rejects, the merge fails and the branch does not change.
   */
  onConflict: fn<(conflict: Conflict) => Resolution | PromiseLike<Resolution>>(),
  /** Ends the call with `aborted`; the store does not change. */
  signal: signalCheck,
  /** Overrides the durability of the store. */
  durability: durabilityCheck,
};

/** Options of a merge and of a revert. */
export interface MergeOptions extends OptionsOf<typeof MERGE_OPTIONS> {}

export const PREVIEW_OPTIONS = {
  /** The most `changes` to keep; 1,000 by default. */
  limit: count,
  signal: signalCheck,
};

/** Options for the preview of a merge. */
export interface PreviewOptions extends OptionsOf<typeof PREVIEW_OPTIONS> {}
