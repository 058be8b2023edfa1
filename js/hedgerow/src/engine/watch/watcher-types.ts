/** The callback and the state of a watcher. */

import type { MOST_CHANGES } from '../../base/internal-symbols.js';
import type { KeyRange } from '../../base/range.js';
import type { IndexRange } from '../../core/indexes/index-range.js';
import type { Change } from '../read/decode-diff.js';
import type { WatchSubject } from './gather-watched-changes.js';
import type { WatchedCommit } from './watched-commit.js';

/**
 * Gets the changes since its last call, in order, and the root that they lead to. Other watchers may get the same
 * objects. When it returns a promise, it is not called again until the promise settles.
 */
export type WatchCallback<Value = unknown> = (
  changes: readonly Change<Value>[],
  at: { readonly root: string },
) => unknown;

/** A callback of any watch. */
export interface AnyWatchCallback {
  (told: never, at: { readonly root: string }): unknown;
  readonly [MOST_CHANGES]?: () => number;
}

/** The state of one watch. */
export interface Watcher extends WatchSubject {
  readonly order: number;
  readonly range: KeyRange | IndexRange;
  readonly callback: AnyWatchCallback;
  readonly onError: ((error: unknown) => void) | undefined;
  readonly end: () => void;
  /** The commit of a watcher that is not at `#main` of `Watchers`, or is busy. */
  behind: WatchedCommit | undefined;
  /** The callback has not settled yet. */
  isBusy: boolean;
  /** The range may have changed since `behind`. */
  hasMissed: boolean;
  isOver: boolean;
}
