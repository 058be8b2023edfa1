/** The options of verifications, and their checks. */

import { flag, fn, type OptionsOf, signalCheck } from '../../base/check-options.js';

/** The progress of a verification. */
export interface VerifyProgress {
  readonly rows: number;
  /** Unpacked. */
  readonly bytes: number;
  /** The fraction of the rows that is done, with lost ones: from 0 to 1. */
  readonly fraction: number;
}

export const VERIFY_OPTIONS = {
  /**
   * Also check that each index has exactly the entries that the rows make; false by default. Costs another pass over
   * the rows for each index, and is skipped when a chunk cannot be read.
   */
  checkIndexes: flag,
  signal: signalCheck,
  /** Called after each slice. */
  onProgress: fn<(progress: VerifyProgress) => void>(),
};

/** Options of a verification. */
export interface VerifyOptions extends OptionsOf<typeof VERIFY_OPTIONS> {}
