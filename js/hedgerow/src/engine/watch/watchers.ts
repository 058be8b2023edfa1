import { sameBytes } from '../../base/bytes.js';
import { notify, report } from '../../base/call-callback-safely.js';
import type { HedgerowError } from '../../base/errors.js';
import type { Exactly } from '../../base/exhaustive-members-type.js';
import { hex } from '../../base/hex.js';
import { MOST_CHANGES } from '../../base/internal-symbols.js';
import type { KeyRange } from '../../base/range.js';
import { turn } from '../../base/slice-queue.js';
import { Slicer } from '../../base/slicer.js';
import { later } from '../../base/timeout.js';
import type { Index } from '../../core/indexes/definition.js';
import { type IndexRange, positionsOf } from '../../core/indexes/index-range.js';
import { isOfIndex } from '../../core/indexes/index-set.js';
import type { Host } from '../../core/operation-host.js';
import type { BranchHead } from '../history/branch-head.js';
import { Pass, type Space } from './gather-watched-changes.js';
import { rowsAt } from './initial-rows.js';
import { intervalOf } from './key-interval.js';
import { Tries } from './retry-policy.js';
import type { WatchOptions } from './watch-options.js';
import { WatchedCommit } from './watched-commit.js';
import { IndexSpace } from './watched-index.js';
import type { AnyWatchCallback, Watcher } from './watcher-types.js';

/** The share of a slice that gathering may use. */
const PART_OF_SLICE = 0.25;

/**
 * The watchers of a branch. All up-to-date watchers are at one commit, `#main`. When the head has moved, one pass over
 * the diff from `#main` to the head gathers their changes, and moves them to the head. A watcher that began at another
 * commit, or whose callback is slow, is behind: it stays at a commit of its own until a pass from there brings it to
 * `#main`. A watcher gets the changes of a commit only once that commit is the head.
 */
export class Watchers {
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #slicer: Slicer;
  readonly #spaces = new Map<string, Space>();
  readonly #all = new Set<Watcher>();
  /** Watchers that still read the rows for their first call. */
  readonly #beginning = new Set<Watcher>();
  readonly #behind = new Set<Watcher>();
  /** Watchers that began since the last look at the head: they may be ahead of `#main`, and wait for the next look. */
  readonly #late = new Set<Watcher>();
  #main: WatchedCommit | undefined;
  /** The pass for all watchers; `undefined` once the set of watchers has changed. */
  #pass: Pass<Watcher> | undefined;
  #isGathering = false;
  #running: Promise<void> | undefined;
  #isStale = false;
  readonly #tries = new Tries();
  #stopTimer = () => {};
  #isClosed = false;
  #order = 0;

  constructor(host: Host, branchHead: BranchHead) {
    this.#host = host;
    this.#branchHead = branchHead;
    this.#slicer = new Slicer({ partMs: host.sliceMs * PART_OF_SLICE });
  }

  /** Call it when the head has moved. */
  followHead(): void {
    if (this.#all.size > 0) this.#wake();
  }

  /**
   * Watches a checked range of rows or of an index, from a commit on; returns a function that ends the watch. `stand`
   * holds the commit.
   */
  watch(
    range: KeyRange | IndexRange,
    callback: AnyWatchCallback,
    { initial = false, signal, onError }: Exactly<WatchOptions, 'initial' | 'signal' | 'onError'>,
    commitBytes: Uint8Array,
    stand: () => WatchedCommit,
  ): () => void {
    const { indexes } = this.#host;
    const index = isOfIndex(range) ? indexes.get(range.index) : undefined;
    const stop = () => this.#end(watcher);
    const watcher: Watcher = {
      order: this.#order++,
      range,
      interval: intervalOf(isOfIndex(range) ? positionsOf(index as Index, range) : range),
      space: index && this.#spaceOf(index),
      callback,
      mostChanges: callback[MOST_CHANGES],
      onError,
      end: () => signal?.removeEventListener('abort', stop),
      behind: undefined,
      isBusy: initial,
      hasMissed: false,
      isOver: signal?.aborted === true,
    };
    if (watcher.isOver) return stop;
    signal?.addEventListener('abort', stop);
    if (watcher.isBusy) {
      this.#beginning.add(watcher);
      void this.#begin(watcher);
    } else {
      this.#add(watcher, commitBytes, stand);
      if (watcher.behind !== undefined) this.#wake();
    }
    return stop;
  }

  #spaceOf(index: Index): Space {
    const space =
      this.#spaces.get(index.name) ?? new IndexSpace(this.#host, this.#branchHead, index);
    this.#spaces.set(index.name, space);
    return space;
  }

  /**
   * Ends all watches with `reason`; resolves when no work is in progress. If the close `isAsked` for, watches without
   * `onError` end silently.
   */
  async close(reason: HedgerowError, isAsked: boolean): Promise<void> {
    this.failAll(reason, isAsked);
    this.#isClosed = true;
    this.#stopTimer();
    await this.#running;
  }

  /** Adds a watcher at its commit. */
  #add(watcher: Watcher, commitBytes: Uint8Array, stand: () => WatchedCommit): void {
    this.#all.add(watcher);
    this.#beginning.delete(watcher);
    this.#pass = undefined;
    // A pass in progress does not include the new watcher.
    watcher.hasMissed = this.#isGathering || !this.#isAtMain(commitBytes);
    if (!watcher.hasMissed && !watcher.isBusy) return;
    watcher.behind = stand();
    this.#behind.add(watcher);
    this.#late.add(watcher);
  }

  #isAtMain(commitBytes: Uint8Array): boolean {
    return this.#main !== undefined && sameBytes(this.#main.commitBytes, commitBytes);
  }

  #end(watcher: Watcher): void {
    watcher.isOver = true;
    watcher.end();
    this.#beginning.delete(watcher);
    if (!this.#all.delete(watcher)) return;
    this.#pass = undefined;
    this.#join(watcher);
    if (this.#running === undefined) this.#rest();
  }

  #fail(watcher: Watcher, cause: unknown, isAsked = false): void {
    if (this.#isOver(watcher)) return;
    this.#end(watcher);
    const { onError = isAsked ? () => {} : report } = watcher;
    notify(onError, cause);
  }

  /** Ends all watches with a cause. */
  failAll(cause: unknown, isAsked?: boolean): void {
    for (const watcher of [...this.#all, ...this.#beginning]) this.#fail(watcher, cause, isAsked);
  }

  #isOver(watcher: Watcher): boolean {
    return watcher.isOver || this.#isClosed;
  }

  /** Releases `#main` when no watcher is left. */
  #rest(): void {
    if (this.#all.size > 0) return;
    this.#main?.release();
    this.#main = undefined;
  }

  /** Marks a watcher as no longer behind: it is at `#main`, or has ended. */
  #join(watcher: Watcher): void {
    this.#behind.delete(watcher);
    this.#late.delete(watcher);
    watcher.behind?.release();
    watcher.behind = undefined;
    watcher.hasMissed = false;
  }

  /** Reports whether a watcher has missed no changes up to `#main`. */
  #isUpToDate({ hasMissed, behind }: Watcher): boolean {
    return !hasMissed || (behind !== undefined && this.#isAtMain(behind.commitBytes));
  }

  /** Makes the first call, with all rows of the range. The watcher continues from their commit. */
  async #begin(watcher: Watcher): Promise<void> {
    const tries = new Tries();
    const branchHead = this.#branchHead;
    while (!this.#isOver(watcher)) {
      let stand: WatchedCommit | undefined;
      try {
        const held = await (watcher.space?.hold() ?? branchHead.holdToRead());
        const { commitBytes } = held.head;
        stand = new WatchedCommit(commitBytes, held);
        const isOver = () => this.#isOver(watcher);
        const told = await rowsAt(branchHead, watcher, commitBytes, isOver);
        if (this.#isOver(watcher)) return;
        this.#add(watcher, commitBytes, stand.use.bind(stand));
        this.#call(watcher, told, hex(commitBytes), stand);
        if (!watcher.isBusy) this.#resumeWatcher(watcher);
        return;
      } catch (cause) {
        const delay = tries.delayAfter(cause);
        if (delay === undefined) return this.#fail(watcher, cause);
        tries.note(cause);
        await new Promise<void>((resolve) => later(resolve, delay));
      } finally {
        stand?.release();
      }
    }
  }

  /** Starts bringing all watchers to the head, unless this is in progress. */
  #wake(): void {
    this.#isStale = true;
    if (this.#running !== undefined || this.#isClosed) return;
    this.#stopTimer();
    const finishPass = () => {
      this.#running = undefined;
      this.#rest();
      if (this.#isStale && this.#all.size > 0) this.#wake();
    };
    const retryOrFail = (cause: unknown) => {
      const delay = this.#tries.delayAfter(cause);
      if (delay === undefined) return this.failAll(cause);
      this.#tries.note(cause);
      if (!this.#isClosed) this.#stopTimer = later(() => this.#wake(), delay);
    };
    this.#running = this.#run().catch(retryOrFail).then(finishPass);
  }

  async #run(): Promise<void> {
    while (this.#isStale && this.#all.size > 0) {
      this.#isStale = false;
      await turn();
      this.#slicer.begin();
      const branchHead = this.#branchHead;
      if (branchHead.isBehind) await branchHead.shared.queueRead(() => branchHead.refresh());
      this.#late.clear();
      const held = await branchHead.holdToRead();
      const next = new WatchedCommit(held.head.commitBytes, held);
      if (this.#main === undefined) this.#main = next;
      else if (this.#isAtMain(next.commitBytes)) next.release();
      else await this.#advance(this.#main, next);
      await this.#catchUp();
      this.#tries.reset();
    }
  }

  #gather(pass: Pass<Watcher>, from: WatchedCommit, to: WatchedCommit): Promise<void> {
    const isWanted = () => this.#all.size > 0;
    const [oldBytes, newBytes] = [from.commitBytes, to.commitBytes];
    return pass.run(this.#host, this.#branchHead, oldBytes, newBytes, this.#slicer, isWanted);
  }

  /** Brings the up-to-date watchers from `#main` to the head. */
  async #advance(from: WatchedCommit, to: WatchedCommit): Promise<void> {
    this.#pass ??= new Pass(this.#all);
    const pass = this.#pass;
    this.#isGathering = true;
    try {
      await this.#gather(pass, from, to);
    } catch (cause) {
      if (this.#tries.delayAfter(cause) !== undefined) {
        to.release();
        throw cause;
      }
      // Bring each watcher to the head by itself: only watchers whose changes cannot be read fail.
      pass.clear();
      for (const watcher of this.#all) {
        watcher.hasMissed = true;
        watcher.behind ??= from.use();
        this.#behind.add(watcher);
      }
    } finally {
      this.#isGathering = false;
    }
    this.#main = to;
    from.release();
    await this.#tell(pass, to, (watcher) => {
      if (watcher.behind === undefined) return true;
      watcher.hasMissed = true;
      return false;
    });
  }

  /** Brings the watchers that are behind to `#main`, unless they are busy. */
  async #catchUp(): Promise<void> {
    const groups = new Map<WatchedCommit, Watcher[]>();
    for (const watcher of this.#behind) {
      if (watcher.isBusy || this.#late.has(watcher)) continue;
      const stand = watcher.behind as WatchedCommit;
      const group = groups.get(stand);
      if (this.#isUpToDate(watcher)) this.#join(watcher);
      else if (group === undefined) groups.set(stand, [watcher]);
      else group.push(watcher);
    }
    for (const [stand, watchers] of groups) await this.#catchUpFrom(stand, watchers);
  }

  async #catchUpFrom(from: WatchedCommit, watchers: readonly Watcher[]): Promise<void> {
    const to = this.#main as WatchedCommit;
    const pass = new Pass(watchers);
    from.use();
    try {
      await this.#gather(pass, from, to);
    } catch (cause) {
      if (this.#tries.delayAfter(cause) !== undefined) throw cause;
      if (watchers.length === 1) return this.#fail(watchers[0] as Watcher, cause);
      for (const watcher of watchers) await this.#catchUpFrom(from, [watcher]);
      return;
    } finally {
      from.release();
    }
    for (const watcher of watchers) this.#join(watcher);
    await this.#tell(pass, to, () => true);
  }

  /** Calls watchers with the results of a pass, in the order in which they began. */
  async #tell(
    pass: Pass<Watcher>,
    at: WatchedCommit,
    isDue: (watcher: Watcher) => boolean,
  ): Promise<void> {
    const root = hex(at.commitBytes);
    const due = [...pass.touched].map(
      (range) => [range, [...range.watchers].filter(isDue)] as const,
    );
    const calls: (readonly [Watcher, readonly unknown[] | undefined])[] = [];
    for (const [range, watchers] of due) {
      const told = await range.finish(this.#slicer);
      if (told === undefined || told.length > 0)
        for (const watcher of watchers) calls.push([watcher, told]);
    }
    calls.sort(([a], [b]) => a.order - b.order);
    for (const [watcher, told] of calls) {
      if (this.#slicer.step()) await this.#slicer.rest();
      if (!watcher.isOver) this.#call(watcher, told, root, at);
    }
  }

  #call(
    watcher: Watcher,
    told: readonly unknown[] | undefined,
    root: string,
    at: WatchedCommit,
  ): void {
    watcher.isBusy = false;
    try {
      const result = watcher.callback(told as never, { root }) as PromiseLike<unknown> | undefined;
      if (typeof result?.then !== 'function' || watcher.isOver) return;
      watcher.isBusy = true;
      watcher.behind ??= at.use();
      this.#behind.add(watcher);
      Promise.resolve(result)
        .catch(report)
        .then(() => this.#resumeWatcher(watcher));
    } catch (cause) {
      report(cause);
    }
  }

  /** Lets a watcher continue. Call it when the watcher's callback has settled. */
  #resumeWatcher(watcher: Watcher): void {
    watcher.isBusy = false;
    if (watcher.isOver) return;
    if (this.#running === undefined && this.#isUpToDate(watcher)) this.#join(watcher);
    else this.#wake();
  }
}
