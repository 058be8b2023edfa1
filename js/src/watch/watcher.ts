/** How a range is watched, and what is known of one who does. */

import type { KeyRange } from '../base/range.js';
import type { IndexRange } from '../indexes/columns.js';
import type { Change } from '../read/diff.js';
import type { Watched } from './gather.js';
import type { Stand } from './pinned-view.js';

/** How a range is watched. */
export interface WatchOptions {
  /** The first call tells all rows of the range as `add`, also when there are none. */
  readonly initial?: boolean | undefined;
  /** Ends the watch, as the function that `watch` returns does. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called once, when the watch has ended because changes can be told no more: they are damaged or lost, storage
   * could not be read in five tries within 7.5 seconds, the branch was deleted (`branch-not-found`), the store was deleted or
   * closed (`closed`). Whoever goes on must read anew what it shows. Without it the error is reported as an
   * uncaught one is, unless it is that the handle was closed by `close()`.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * Told the ordered changes since its last call, and the root that they lead to. Others may be given
 * the same objects. When it returns a promise it is not called again before that is settled.
 */
export type WatchCallback<Value = unknown> = (
  changes: readonly Change<Value>[],
  at: { readonly root: string },
) => unknown;

/** One of those who watch. */
export interface Watcher extends Watched {
  readonly order: number;
  readonly range: KeyRange | IndexRange;
  readonly callback: WatchCallback;
  readonly onError: ((error: unknown) => void) | undefined;
  readonly end: () => void;
  /** Where it stands, unless it is up to date. */
  behind: Stand | undefined;
  /** It is taking what it was told. */
  isBusy: boolean;
  /** Something was changed for it since. */
  hasMissed: boolean;
  isOver: boolean;
}
