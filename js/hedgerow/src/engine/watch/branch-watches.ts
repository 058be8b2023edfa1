import { sameBytes } from '../../base/bytes.js';
import { notify, report } from '../../base/call-callback-safely.js';
import { part } from '../../base/dynamic-import.js';
import { HedgerowError } from '../../base/errors.js';
import type { KeyRange } from '../../base/range.js';
import type { IndexRange } from '../../core/indexes/index-range.js';
import type { Host } from '../../core/operation-host.js';
import type { BranchHead } from '../history/branch-head.js';
import { Recovery } from './recovery-listeners.js';
import type { WatchOptions } from './watch-options.js';
import { WatchedCommit } from './watched-commit.js';
import type { AnyWatchCallback } from './watcher-types.js';
import type { Watchers } from './watchers.js';

/** Loads the code of watches. */
export const loadWatchers = () => part(() => import('./watchers.js'));

/** Ends a watch that waits for its code: with a cause, or because the caller stops it. */
type EndWaiting = (cause?: unknown, isAsked?: boolean) => void;

/** The watches of a branch. Their code is loaded at the first one, which still begins at the commit of its call. */
export class BranchWatches {
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  #watchers: Watchers | undefined;
  readonly #waiting = new Set<EndWaiting>();
  /** The commit at which the last watch began; watches that begin there share it. */
  #last: WatchedCommit | undefined;
  #isGone = false;
  readonly recovery = new Recovery();

  constructor(host: Host, branchHead: BranchHead) {
    this.#host = host;
    this.#branchHead = branchHead;
  }

  /** Call it when the head has moved, or its branch was deleted or created again. */
  followHead(): void {
    const wasGone = this.#isGone;
    this.#isGone = this.#branchHead.isGone;
    try {
      this.#branchHead.checkThere();
      if (wasGone) this.recovery.tell();
    } catch (cause) {
      this.#endWaiting(cause);
      this.#watchers?.failAll(cause);
    }
    this.#watchers?.followHead();
  }

  /** Watches a range of rows or of an index; returns a function that ends the watch. */
  watch(
    range: KeyRange | IndexRange,
    callback: AnyWatchCallback,
    options: WatchOptions,
  ): () => void {
    if (typeof callback !== 'function') {
      throw new HedgerowError('invalid-argument', 'watch: callback must be a function');
    }
    this.#host.indexes.encode(range);
    const { commitBytes } = this.#branchHead.head;
    const begin = (watchers: Watchers, stand: () => WatchedCommit) =>
      watchers.watch(range, callback, options, commitBytes, stand);
    if (this.#watchers !== undefined) {
      return begin(this.#watchers, () => this.#standAt(commitBytes));
    }
    const stand = this.#standAt(commitBytes);
    const { signal, onError } = options;
    let stop: (() => void) | undefined;
    const end: EndWaiting = (cause, isAsked = false) => {
      if (!this.#waiting.delete(end)) return;
      stand.release();
      if (cause === undefined || signal?.aborted) return;
      notify(onError ?? (isAsked ? () => {} : report), cause);
    };
    this.#waiting.add(end);
    this.#load().then((watchers) => {
      if (this.#waiting.has(end)) stop = begin(watchers, () => stand.use());
      end();
    }, end);
    return () => {
      end();
      stop?.();
    };
  }

  async #load(): Promise<Watchers> {
    const { Watchers } = await loadWatchers();
    this.#watchers ??= new Watchers(this.#host, this.#branchHead);
    return this.#watchers;
  }

  /** Returns the stand at a commit, which watches that begin there share. */
  #standAt(commitBytes: Uint8Array): WatchedCommit {
    const last = this.#last;
    if (last?.isHeld && sameBytes(last.commitBytes, commitBytes)) return last.use();
    this.#last = new WatchedCommit(commitBytes, this.#branchHead.shared.hold(commitBytes));
    return this.#last;
  }

  #endWaiting(cause: unknown, isAsked?: boolean): void {
    for (const end of [...this.#waiting]) end(cause, isAsked);
  }

  /**
   * Ends all watches with `reason`; resolves when no work is in progress. If the close `isAsked` for, watches without
   * `onError` end silently.
   */
  async close(reason: HedgerowError, isAsked: boolean): Promise<void> {
    this.#endWaiting(reason, isAsked);
    await this.#watchers?.close(reason, isAsked);
  }
}
