/** The options of repairs, and their checks. */

import { flag, type OptionsOf } from '../../base/check-options.js';
import { VERIFY_OPTIONS, type VerifyOptions } from '../verify/verify-options.js';

export const REPAIR_OPTIONS = {
  /**
   * If no commit verifies completely, deletes the key ranges that the damaged chunks cover, and keeps the rest. Without
   * this option the repair then fails and changes no row.
   */
  salvage: flag,
  ...VERIFY_OPTIONS,
};

/** Options of a repair. */
export interface RepairOptions extends VerifyOptions, OptionsOf<typeof REPAIR_OPTIONS> {}
