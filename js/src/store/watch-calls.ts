/** The calls of a handle that tell of changes. */
import { checkRangeOptions, optionsOf, RANGE } from '../base/options.js';
import type { KeyRange } from '../base/range.js';
import type { IndexRange } from '../core/indexes/columns.js';
import type { CountCallback, WatchCallback, WatchOptions } from '../engine/watch/watcher.js';
import { ReaderWriter } from './reader-writer.js';
import { loadCounts } from './store-later.js';

export abstract class WatchCalls extends ReaderWriter {
  /**
   * Calls `callback` with the changes in a range since its last call, in the order of keys,
   * made in this tab or in another; returns how to stop. Begins at `root` as it is now; with
   * `initial` the first call has all rows as `add`. It is never called without a change, and not
   * for values that were put again as they were.
   *
   * With `index` the changes are those of its entries in a range of it, in its order, each with its
   * secondary key: of a row with an array, those of each member. The index need not be ready for
   * that, but `initial` waits for it.
   *
   * Commits that come while callbacks are called are reported together. The cost of a commit is
   * proportional to its changes and to the calls that they cause. All changes of a call are in memory
   * at once, after a load of a million rows a million of them; watchers of the same range share them.
   *
   * A callback that returns a promise is not called again before that is settled. What a callback
   * throws is reported (`reportError`, or `console.error` where there is none) and stops nothing. A watch that
   * can tell no more ends, and `onError` is called with the cause.
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
   * Calls `callback` with the number of rows of a range, or of entries in a range of an index, and the root at which they
   * were counted: soon with the present number, then whenever it changes, in any tab. Returns how to stop. Reads no rows,
   * and parses no values: a commit costs its changes, of which the values are parsed only if an index is watched. An index
   * is waited for. As for `watch`, a callback that returns a promise is not called again before that is settled, and a
   * watch that can tell no more ends with `onError`.
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
   * Calls `listener` when a watch that has ended with an error may be begun again: after `repair`, `resetTo` and
   * `switchTo` of this handle, and when its branch, which was deleted, was made anew. Returns how to stop.
   */
  onRecovery(listener: () => void): () => void {
    return this.handle.watchers.recovery.on(listener);
  }
}
