/** The options of collections at a remote, and their checks. */

import { anything, fn, type OptionsOf, signalCheck } from '../../base/check-options.js';
import type { CollectProgress } from './remote-garbage-types.js';

export const COLLECT_OPTIONS = {
  /**
   * How long an object stays after the last head that named it, in milliseconds, by the remote's clock: 7 days by
   * default, and at least an hour. All devices that collect at a remote use the same.
   */
  graceMs: anything<number>(),
  /** Ends the call with `aborted`. */
  signal: signalCheck,
  onProgress: fn<(progress: CollectProgress) => void>(),
};

export interface CollectOptions extends OptionsOf<typeof COLLECT_OPTIONS> {}
