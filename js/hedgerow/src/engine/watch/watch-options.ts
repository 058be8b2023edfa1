/** The options of watches, and their checks. */

import { flag, fn, type OptionsOf, signalCheck } from '../../base/check-options.js';

export const WATCH_OPTIONS = {
  /** The first call gets all rows of the range as `add`, even if the range is empty. */
  initial: flag,
  /** Ends the watch, like the function that `watch` returns. */
  signal: signalCheck,
  /**
   * Called once, when the watch ends because it can report no more changes: they are damaged or lost, storage could not
   * be read in five tries within 7.5 seconds, the branch was deleted (`not-found/branch`), or the store was deleted or
   * closed (`closed`). To go on, watch again and read all shown rows again. Without `onError` the error is reported
   * like an uncaught one, unless its cause is `close()` of the handle.
   */
  onError: fn<(error: unknown) => void>(),
};

/** Options of a watch. */
export interface WatchOptions extends OptionsOf<typeof WATCH_OPTIONS> {}
