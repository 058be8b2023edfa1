/** How a range is watched, and the state of a watcher. */

import type { KeyRange } from '../../base/range.js';
import type { IndexRange } from '../../core/indexes/columns.js';
import type { Change } from '../read/diff.js';
import type { WatchSubject, WatchTally } from './gather.js';
import type { Stand } from './pinned-view.js';

/** How a range is watched. */
export interface WatchOptions {
  /** The first call gets all rows of the range as `add`; it is made even when there are none. */
  readonly initial?: boolean | undefined;
  /** Ends the watch, like the function that `watch` returns. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called once, when the watch ends because it can report no more changes: they are damaged or lost, storage could
   * not be read in five tries within 7.5 seconds, the branch was deleted (`branch-not-found`), or the store was deleted
   * or closed (`closed`). To go on, watch again and read anew what is shown. Without `onError` the error is
   * reported like an uncaught one, unless its cause is `close()` of the handle.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * Gets the changes since its last call, in order, and the root that they lead to. Other watchers may
 * get the same objects. When it returns a promise, it is not called again until that settles.
 */
export type WatchCallback<Value = unknown> = (
  changes: readonly Change<Value>[],
  at: { readonly root: string },
) => unknown;

/** Gets the number of rows, or of entries of an index, and the root at which they were counted. */
export type CountCallback = (count: number, at: { readonly root: string }) => unknown;

/** Loads a `Tally`. */
export type LoadTally = () => Promise<WatchTally<Watcher>>;

/** The state of one watch. */
export interface Watcher extends WatchSubject<Watcher> {
  /** Set when its code is loaded. */
  tally: WatchTally<Watcher> | undefined;
  readonly order: number;
  readonly range: KeyRange | IndexRange;
  /** Gets changes, or what its `tally` tells. */
  readonly callback: (told: never, at: { readonly root: string }) => unknown;
  readonly onError: ((error: unknown) => void) | undefined;
  readonly end: () => void;
  /** The commit it is at, if that is not `#main` of `Watchers`, or while it is busy. */
  behind: Stand | undefined;
  /** Its callback has not settled yet. */
  isBusy: boolean;
  /** Its range may have changed since `behind`. */
  hasMissed: boolean;
  isOver: boolean;
}
