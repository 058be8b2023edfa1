/** The calls of a handle that report changes. */
import { checkRangeOptions, optionsOf, RANGE } from '../base/options.js';
import type { KeyRange } from '../base/range.js';
import type { IndexRange } from '../core/indexes/columns.js';
import type { CountCallback, WatchCallback, WatchOptions } from '../engine/watch/watcher.js';
import { ReaderWriter } from './reader-writer.js';
import { loadCounts } from './store-later.js';

export abstract class WatchCalls extends ReaderWriter {
  /**
   * Calls `callback` with the changes in a range since its last call, in the order of keys, made in this tab or in
   * another; returns a function that stops it. Begins at the present `root`; with `initial` the first call has all rows
   * as `add`. It is never called without a change, and not for values that were put again as they were.
   *
   * With `index` it reports the changes of entries in a range of the index, in its order, each with its secondary key:
   * of a row with an array, the changes for each member. The index need not be ready for that, but `initial` waits for
   * it.
   *
   * Commits that come while callbacks are called are reported together. The cost of a commit is proportional to its
   * changes and to the calls that they cause. All changes of a call are in memory at once, after a load of a million
   * rows a million of them; watchers of the same range share them.
   *
   * A callback that returns a promise is not called again before the promise is settled. The error of a callback is
   * reported (by `reportError`, or `console.error` where it is missing), and stops no watch. A watch that can report no
   * more changes ends, and `onError` is called with the cause.
   */
  watch<Value = unknown>(
    range: KeyRange | IndexRange,
    callback: WatchCallback<Value>,
    options: WatchOptions = {},
  ): () => void {
    this.from.check();
    const wanted = checkRangeOptions('watch', range, RANGE.entries);
    const how = optionsOf('watch', options, 'initial signal onError');
    return this.handle.watchers.watch(wanted, callback, how);
  }

  /**
   * Calls `callback` with the number of rows of a range, or of entries in a range of an index, and the root at which
   * they were counted: soon with the present number, then whenever it changes, in any tab. Returns a function that
   * stops it. Reads no rows: a commit costs its changes, whose values are parsed only if an index is watched. Waits for
   * an index. As for `watch`, a callback that returns a promise is not called again before the promise is settled, and
   * a watch that can report no more changes ends with `onError`.
   */
  watchCount(
    range: KeyRange | IndexRange,
    callback: CountCallback,
    options: Omit<WatchOptions, 'initial'> = {},
  ): () => void {
    this.from.check();
    const wanted = checkRangeOptions('watchCount', range, RANGE.entries);
    const how = optionsOf('watchCount', options, 'signal onError');
    const load = async () => (await loadCounts()).counting;
    return this.handle.watchers.watch(wanted, callback, how, load);
  }

  /**
   * Calls `listener` when a watch that has ended with an error may begin again: after `repair`, `resetTo` and
   * `switchTo` of this handle, and when its deleted branch was made again. Returns a function that stops it.
   */
  onRecovery(listener: () => void): () => void {
    return this.handle.watchers.recovery.on(listener);
  }
}
