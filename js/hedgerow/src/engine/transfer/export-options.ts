/** The options of exports, and their checks. */

import { anything, type OptionsOf, signalCheck } from '../../base/check-options.js';

export const EXPORT_OPTIONS = {
  /**
   * The names of other branches to export, or `true` for all except the branches of mutators; no branch by default. The
   * branch of the handle becomes the main branch of the copy.
   */
  branches: anything<boolean | readonly string[]>(),
  /**
   * The number of bytes to leave out, to continue a copy that was cut off. The export of a store stays the same until
   * the store is written to or compacted.
   */
  from: anything<number>(),
  signal: signalCheck,
};

/** Options of an export. */
export interface ExportOptions extends OptionsOf<typeof EXPORT_OPTIONS> {}
