/**
 * The open store: all that apps call on it, in one class, so this file is longer than the others. Each call takes a few
 * lines, over other rooms.
 */

import { checkSignal } from '../base/abort-signal.js';
import type { ByteSource } from '../base/byte-source.js';
import { checkRangeOptions, optionsOf, RANGE } from '../base/check-options.js';
import { keptValue } from '../base/check-value.js';
import { disposable } from '../base/disposable.js';
import { HedgerowError } from '../base/errors.js';
import { hex } from '../base/hex.js';
import { LOOK, type LookOption, OWN } from '../base/internal-symbols.js';
import type { KeyRange } from '../base/range.js';
import { runAbortable } from '../base/run-abortable.js';
import type { IndexRange } from '../core/indexes/index-entries.js';
import type { Host } from '../core/operation-host.js';
import type { Branch, BranchesOptions, BranchOptions } from '../engine/branches/branches.js';
import type {
  MergeOptions,
  MergePreview,
  MergeResult,
  PreviewOptions,
} from '../engine/branches/merge.js';
import type { RevertResult } from '../engine/branches/revert.js';
import { CollectionScheduler } from '../engine/collect/collection-scheduler.js';
import type { CompactResult } from '../engine/collect/garbage-collection-run.js';
import type { BranchHead } from '../engine/history/branch-head.js';
import { readContext } from '../engine/read/context.js';
import type { Change, DiffOptions } from '../engine/read/decode-diff.js';
import type { Rows } from '../engine/read/scan.js';
import type { Stats } from '../engine/read/store-stats.js';
import { UnfinishedChanges } from '../engine/read/unfinished-changes.js';
import type { RepairOptions, RepairResult } from '../engine/repair/types.js';
import { loadSums } from '../engine/sums/sum-tree.js';
import { type Deletes, deleteMany } from '../engine/transaction/delete-many.js';
import { transacting } from '../engine/transaction/on-demand-transaction-code.js';
import type {
  CommitOptions,
  CommitResult,
  TransactionJob,
  TransactionOptions,
} from '../engine/transaction/run.js';
import type { CapturedValue, ValueUpdate } from '../engine/transaction/single-row.js';
import type { Transaction } from '../engine/transaction/transaction.js';
import type { Export, ExportOptions } from '../engine/transfer/export.js';
import type { Verification, VerifyOptions } from '../engine/verify/verify-commit.js';
import type { CountCallback, WatchCallback, WatchOptions } from '../engine/watch/watcher-types.js';
import { Watchers } from '../engine/watch/watchers.js';
import { IndexBuilder } from '../engine/write/background-index-builder.js';
import { inOrder } from '../engine/write/call-order.js';
import type { IngestResult } from '../engine/write/ingest.js';
import { applyPatch, type Patch, type PatchOptions } from '../engine/write/patch.js';
import { deleteRange, type PutManyOptions, putMany } from '../engine/write/put-many.js';
import { isFed, type Source } from '../engine/write/row-source.js';
import { type EditOptions, SingleEdits } from '../engine/write/single-edits.js';
import { Flusher, Writer, type WriterOptions } from '../engine/write/writer.js';
import type { Durability } from '../storage/segment-store.js';
import type { TabMessages } from '../storage/tabs/tab-messages.js';
import type { Link } from '../sync/link/link.js';
import type { LinkOptions } from '../sync/link/open-link.js';
import type { Remote } from '../sync/remote/remote.js';
import { loadHealth, readParts, repairing, verifying } from './on-demand-code.js';
import { loadCounts, storeParts, syncing } from './on-demand-store-code.js';
import { type IndexBuildOptions, type OpenOptions, openParts } from './open.js';
import { diffOf, Reader } from './reader.js';
import { Snapshot } from './snapshot.js';
import type { HealthTracker } from './storage-health-tracker.js';
import type { Health, HealthListener } from './storage-health-types.js';

type TransactionParts = Awaited<ReturnType<typeof transacting>>;

/** The parts of a handle besides the ones that reads need. */
interface HandleParts {
  readonly edits: SingleEdits;
  readonly changes: UnfinishedChanges;
  readonly durability: Durability;
  readonly collector: CollectionScheduler;
  /** The flushers of open writers. */
  readonly flushers: Set<Flusher>;
  /** The health of the store, for all of its handles. */
  readonly health: HealthTracker;
  readonly watchers: Watchers;
}

/** An open store. Made by `open`. */
export class Store extends Reader {
  /** The name that it was opened under. */
  readonly name: string;
  protected readonly handle: HandleParts;
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #tabs: TabMessages | undefined;
  readonly #builder: IndexBuilder;
  readonly #indexing: IndexBuildOptions;
  /** As `close`, for `await using`. */
  declare readonly [Symbol.asyncDispose]: () => Promise<void>;
  /** The handle that was opened first; closing it closes all others. */
  readonly #first: Store;
  /** The handles of branches that it has opened. */
  readonly #others = new Set<Store>();
  #closing: Promise<void> | undefined;
  /** Why it was closed, if not by `close`. */
  #closedBy: HedgerowError | undefined;

  private constructor(
    name: string,
    host: Host,
    branchHead: BranchHead,
    durability: Durability,
    tabs: TabMessages | undefined,
    indexing: IndexBuildOptions,
    health: HealthTracker,
    first?: Store,
  ) {
    const changes = new UnfinishedChanges();
    const edits = new SingleEdits(host, branchHead, durability);
    const check = () => this.#check();
    const from = readContext(host, branchHead, edits.pending, check, changes, durability);
    const collector = first
      ? first.handle.collector
      : new CollectionScheduler(host, branchHead, tabs);
    const watchers = new Watchers(host, branchHead);
    super(from);
    const flushers = new Set<Flusher>();
    this.handle = { edits, changes, durability, collector, flushers, health, watchers };
    disposable(Store.prototype, 'asyncDispose', Store.prototype.close);
    this.#first = first ?? this;
    this.name = name;
    this.#tabs = tabs;
    this.#host = host;
    this.#branchHead = branchHead;
    this.#indexing = indexing;
    this.#builder = new IndexBuilder(host, branchHead, { ...indexing, durability });
    branchHead.onMoved(() => collector.scheduleCheck());
    branchHead.onMoved(() => watchers.followHead());
    this.#settle();
    host.onHandle?.(this, branchHead);
    if (first !== undefined) {
      first.#others.add(this);
      return;
    }
    branchHead.shared.onFull = () => collector.full();
    branchHead.shared.onLost = (cause) => {
      if (this.#closing !== undefined) return;
      this.#closedBy = cause;
      this.close().catch(() => {});
    };
    if (branchHead.shared.lost !== undefined) branchHead.shared.lose(branchHead.shared.lost);
  }

  /** Opens a store; see the function `open`. */
  static async open(
    name: string,
    options: OpenOptions = {},
    onHandle?: (handle: object, inner?: unknown) => void,
  ): Promise<Store> {
    const parts = await openParts(name, options);
    parts.host.onHandle = onHandle;
    const { host, branchHead, durability, tabs, indexing, health } = parts;
    return new Store(name, host, branchHead, durability, tabs, indexing, health);
  }

  /** The hash of all that the store holds, in hexadecimal. */
  get root(): string {
    return hex(this.#branchHead.head.commitBytes);
  }

  /** The name of the branch that reads and writes go to: `main` when it was opened. */
  get branchName(): string {
    return this.#branchHead.branchName;
  }

  /** Throws if the handle is closed, or its branch was deleted. */
  #check(): void {
    this.#checkOpen();
    this.#branchHead.checkThere();
  }

  #checkOpen(): void {
    if (this.#closing === undefined && this.#first.#closing === undefined) return;
    throw this.#closedError();
  }

  #closedError(): HedgerowError {
    const cause = this.#first.#closedBy;
    return new HedgerowError('closed', `the store ${this.name} is closed`, { cause });
  }

  /**
   * Puts many rows in one commit, which makes all of them visible at once. Keys may come in any order; of equal keys
   * the last wins. Ascending keys into an empty store are fastest, and take bounded memory. Other writes continue in
   * the meantime; the commit follows them when the rows end.
   *
   * Rows come from an iterable or async iterable, or, which is faster, as bytes of NDJSON or of one JSON array: from a
   * `Response`, a `Blob`, a stream, or an iterable of parts. A malformed row of bytes is `invalid-data/row`, with its
   * number and offset. If the source or the `key` function throws, the call rejects with the same error, and puts no
   * row.
   */
  async putMany<Row>(
    source: Source<Row> | ByteSource,
    options: PutManyOptions<Row> = {},
  ): Promise<IngestResult> {
    this.from.check();
    const job = this.#jobOf('putMany', options, 'key prefix format onProgress');
    const look = (options as LookOption)[LOOK];
    return this.#run(job, isFed(source), (own) =>
      putMany(this.from.host, this.from.branchHead, source, { ...own, look }),
    );
  }

  /**
   * Deletes many rows in one commit: the rows with the keys of an iterable, or all rows of a range. It drops a range
   * unread, at the cost of its two ends; the result then has the number of its rows.
   */
  async deleteMany(
    keysOrRange: Deletes,
    options: Pick<PutManyOptions<string>, 'signal' | 'durability'> = {},
  ): Promise<IngestResult> {
    this.from.check();
    const job = this.#jobOf('deleteMany', options);
    const isTaken = isFed(keysOrRange);
    return this.#run(job, isTaken, (own) => {
      const remove = () => deleteMany(this.from, keysOrRange, own);
      // Keys that come one by one cannot be taken again.
      return isTaken ? remove() : this.handle.collector.freeingSpace(remove);
    });
  }

  /**
   * Applies a patch in one commit. If an operation is malformed, or updates a value that is no object, the whole patch
   * fails with `invalid-data/patch`, which names the operation. An operation is not carried out if a later one
   * overrides it (a `put` or `del` of its key, a `clear`), and the value that it would have updated is not checked. The
   * order of operations does not change how long they take. They come as rows come to `putMany`; the `rows` of the
   * result are operations.
   */
  async applyPatch(patch: Patch, options: PatchOptions = {}): Promise<IngestResult> {
    this.from.check();
    const job = this.#jobOf('applyPatch', options, 'format onProgress');
    const { host, branchHead, pending } = this.from;
    const after = pending?.all();
    return this.#run(job, isFed(patch), (own) =>
      applyPatch(host, branchHead, patch, { ...own, after }),
    );
  }

  /**
   * Runs `body` and commits its edits; if `body` throws, they are dropped. `body` reads the store as it was when the
   * transaction began, with its own edits so far. If another writer changes something that it has read before its
   * commit, it runs again from the start: so transactions take effect one after the other, in all tabs. Without edits
   * there is no commit.
   *
   * Resolves to what `body` returned. Rejects with its error, and with `conflict` if other writers were first again and
   * again.
   */
  async transaction<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    return (await this.#transact(body, this.#jobOf('transaction', options))).value;
  }

  /**
   * Runs a transaction, and resolves to what `body` returned as `value`, with the roots `before` and `after` its own
   * commit, which has no changes of others: `revert` takes these roots. They are equal if there was no change. With
   * `keep` they can be reverted until `release()`; without it until a collection deletes chunks that no head needs any
   * more.
   */
  async commit<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    options: CommitOptions = {},
  ): Promise<CommitResult<T>> {
    return this.#transact(body, this.#jobOf('commit', options, 'keep'));
  }

  /** Runs a transaction whose function belongs to the library: later calls take effect after it. */
  async [OWN]<T>(
    body: (tx: Transaction) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    return (await this.#transact(body, this.#jobOf('transaction', options), true)).value;
  }

  #transact<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    job: TransactionOptions & { readonly durability: Durability },
    holdsUp = false,
  ): Promise<CommitResult<T>> {
    const { host, branchHead } = this.from;
    return this.#transacting(job, holdsUp, ({ Transactions }, own) =>
      new Transactions(host, branchHead).run(body, own),
    );
  }

  #transacting<T>(
    job: TransactionOptions & { readonly durability: Durability },
    holdsUp: boolean,
    work: (parts: TransactionParts, job: TransactionJob) => Promise<T>,
  ): Promise<T> {
    this.from.check();
    const { waits } = this.handle.changes;
    const { before, over, end } = inOrder(this.from, holdsUp);
    return this.#run(job, false, async (own) => {
      try {
        await before;
        return await work(await transacting(), { ...own, waits, over });
      } finally {
        end();
      }
    });
  }

  /**
   * Takes one change back, in one commit: the change that led from the root or snapshot `before` to the root or
   * snapshot `after`, as `commit` returns them. Changes of others stay. A row of the change that has another value by
   * now is a conflict: it stays as it is, or becomes what `onConflict` returns, for which `ours` is its present value,
   * `base` the value that the change gave it, and `theirs` the value before. `revert(after, before)` is the redo.
   * Rejects with `missing-chunk` if a root is no longer stored.
   */
  async revert(
    before: string | Snapshot,
    after: string | Snapshot,
    options: MergeOptions = {},
  ): Promise<RevertResult> {
    this.from.check();
    const job = this.#jobOf('revert', options, 'onConflict');
    return this.#run(job, job.onConflict !== undefined, async (own) =>
      (await storeParts()).revert(this.from.branchHead, before, after, own),
    );
  }

  /** Deletes all rows. */
  async clear(options: TransactionOptions = {}): Promise<void> {
    this.from.check();
    const job = this.#jobOf('clear', options);
    await this.#run(job, false, (own) =>
      deleteRange(this.from.host, this.from.branchHead, {}, own),
    );
  }

  /**
   * Returns a writer that takes rows one by one without a promise for each:
   * `if (!writer.tryPut(key, value)) await writer.put(key, value);`. Rows become visible at `writer.finish()`, or every
   * `commitEvery` rows. A writer holds up no other write. Its rows are dropped if the store is closed, or the writer is
   * garbage-collected.
   */
  writer(options: WriterOptions = {}): Writer {
    this.from.check();
    const { commitEvery = Number.POSITIVE_INFINITY, durability = this.handle.durability } =
      optionsOf('writer', options, 'commitEvery durability');
    const flusher = new Flusher(
      this.from.host,
      this.from.branchHead,
      durability,
      commitEvery,
      (ended) => this.handle.flushers.delete(ended),
    );
    this.handle.flushers.add(flusher);
    return new Writer(flusher);
  }

  /**
   * Puts one row. Rows put in one turn share one commit, which is strict if one of them asks for it. A `signal` takes
   * the put back while it waits for its commit.
   */
  async put(key: string, value: unknown, options?: EditOptions): Promise<void> {
    this.from.check();
    return this.#edit('put', options, (own) => this.handle.edits.put(key, value, own));
  }

  /** Deletes one row, if it exists. Takes the options of `put`. */
  async delete(key: string, options?: EditOptions): Promise<void> {
    this.from.check();
    return this.#edit('delete', options, (own) =>
      this.handle.collector.freeingSpace(() => this.handle.edits.delete(key, own)),
    );
  }

  /** Puts a row that does not exist. Rejects with `exists`, which has its `key`, if it does. */
  async insert(key: string, value: unknown, options: TransactionOptions = {}): Promise<void> {
    await this.#change('insert', key, { value: keptValue(value), unset: [] }, options);
  }

  /**
   * Changes one row, and resolves to its new value. Members are merged into it, as by `update` of a patch: members that
   * are `undefined` are removed, and a missing row is made of the other members. A row that is no plain object is
   * `invalid-argument/value`. A function gets the present value, or `undefined`, and returns the new value, or a
   * promise of it; if that is `undefined`, the row stays as it is. The function runs again if another writer was first.
   */
  async update<Value = unknown>(
    key: string,
    change: ValueUpdate<Value>,
    options: TransactionOptions = {},
  ): Promise<Value | undefined> {
    const members = Object(change) as Record<string, unknown>;
    const isUnset = (name: string) => members[name] === undefined;
    const taken =
      typeof change === 'function'
        ? change
        : { value: keptValue(change), unset: Object.keys(members).filter(isUnset) };
    return this.#change('update', key, taken as CapturedValue, options) as Promise<
      Value | undefined
    >;
  }

  #change(
    call: 'insert' | 'update',
    key: string,
    what: CapturedValue,
    options: TransactionOptions,
  ): Promise<unknown> {
    const change = (parts: TransactionParts, own: TransactionJob): Promise<unknown> =>
      parts[call](this.from, key, what, own);
    return this.#transacting(this.#jobOf(call, options), typeof what !== 'function', change);
  }

  #edit(
    call: string,
    options: EditOptions | undefined,
    edit: (own?: EditOptions) => Promise<void>,
  ): Promise<void> {
    return options === undefined ? edit() : runAbortable(call, options, 'durability signal', edit);
  }

  /**
   * Returns the changes from a root to the head at the time when the reading begins, in the order of keys: the changes
   * while a page that has kept its `root` was closed. A root that no branch and no snapshot keeps may have been
   * compacted away, entirely or in part: the reading then fails with `missing-chunk`, possibly after some changes. The
   * root of an empty store always works. Costs the nodes that the two do not share.
   */
  changes<Value = unknown>(sinceRoot: string, range: DiffOptions = {}): Rows<Change<Value>> {
    return this.#changesSince(sinceRoot, range) as Rows<Change<Value>>;
  }

  /**
   * Returns the changes of this branch since it was forked, or last merged with the branch that it was forked from, in
   * the order of keys: a review of a draft. Changes of the other branch are not among them. Fails with
   * `invalid-argument` for the main branch, and if the other branch was deleted.
   */
  changesSinceFork<Value = unknown>(range: DiffOptions = {}): Rows<Change<Value>> {
    return this.#changesSince(undefined, range) as Rows<Change<Value>>;
  }

  #changesSince(root: string | undefined, range: DiffOptions): Rows<Change> {
    return diffOf(this.readable, this.from.branchHead, root, undefined, range);
  }
  /** Checks the options of a change. */
  #jobOf<Options extends TransactionOptions>(call: string, options: Options, names = '') {
    const job = optionsOf(call, options, `${names} signal durability`.trim());
    checkSignal(job.signal);
    return { durability: this.handle.durability, ...job };
  }

  /** See `Changes.run`. */
  #run<T, Job extends TransactionOptions>(
    job: Job,
    waitsForCaller: boolean,
    change: (job: Job) => Promise<T>,
  ): Promise<T> {
    return this.handle.changes.run(job.signal, waitsForCaller, (signal) =>
      change({ ...job, signal }),
    );
  }

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

  /**
   * Returns the store as it is now, with the same reads, whatever is written later. It copies no rows, and its chunks
   * are kept until it is released: by `using`, by `release()`, or when it is garbage-collected.
   */
  snapshot(): Snapshot {
    this.#check();
    return new Snapshot(this.#branchHead, () => this.#checkOpen());
  }

  /**
   * Opens another handle, which reads and writes the branch `name`. A missing branch is forked from where this handle
   * stands, or `from` a snapshot or a root, at the cost of one small write. Close it after use; it also closes with the
   * handle that opened the store.
   */
  async branch(name: string, options: BranchOptions = {}): Promise<Store> {
    this.#check();
    const { branches } = await storeParts();
    this.#check();
    const { durability, health } = this.handle;
    const check = () => this.#checkOpen();
    const branchHead = await branches.openBranch(
      this.#branchHead,
      name,
      options,
      durability,
      check,
    );
    const shared = [durability, this.#tabs, this.#indexing, health, this.#first] as const;
    return new Store(this.name, this.#host, branchHead, ...shared);
  }

  /**
   * Lists all branches, the main one first, each with where it was forked; lists branches of remotes only on request.
   */
  async branches(options: BranchesOptions = {}): Promise<Branch[]> {
    this.#checkOpen();
    return (await storeParts()).branches.listBranches(this.#branchHead, options);
  }

  /**
   * Deletes a branch. Handles that stand on it, in any tab, fail with `not-found/branch` from then on; their watches
   * end with this error.
   */
  async deleteBranch(name: string): Promise<void> {
    this.#checkOpen();
    const work = async () =>
      (await storeParts()).branches.deleteBranch(this.#branchHead, name, this.handle.durability);
    return this.handle.changes.note(work());
  }

  /**
   * Moves this handle, with its reads and writes, to the branch `name`. Earlier writes end first; rejects with
   * `blocked` while a writer is open.
   */
  async switchTo(name: string): Promise<void> {
    this.#checkOpen();
    const { switchBranch } = await storeParts();
    await switchBranch(this.#branchHead, name, this.handle, () => this.#checkOpen());
    this.#settle();
  }

  /** Follows a move to another branch, or to a commit that others have made. */
  #settle(): void {
    this.#builder.look();
    if (this.#host.sums !== undefined) {
      // Reads of the sums report a failure.
      const follow = async () => (await loadSums()).followed(this.from);
      follow().catch(() => {});
    }
    this.handle.watchers.recovery.tell();
  }

  /**
   * Brings the changes of another branch, since it was forked from this one or last merged with it, into this one, in
   * one commit. A key that both have changed, to different values, is a conflict, which `onConflict` decides; without
   * it there is no merge, and the error `conflict` has the `conflicts`. Indexes and sum trees stay the ones of this
   * branch, made of the merged rows.
   */
  async merge(branch: string | Store, options: MergeOptions = {}): Promise<MergeResult> {
    this.#check();
    const job = this.#jobOf('merge', options, 'onConflict');
    const name = this.#nameOf(branch);
    return this.#run(job, job.onConflict !== undefined, async (own) => {
      const { merge } = await storeParts();
      return merge.mergeBranch(this.#branchHead, name, own);
    });
  }

  /**
   * Returns what `merge` would do with a branch now: its changes and its conflicts. Does not write, and costs as much
   * reading. All conflicts are in memory, as in a merge, and 1,000 changes, or `limit`.
   */
  async previewMerge<Value = unknown>(
    branch: string | Store,
    options: PreviewOptions = {},
  ): Promise<MergePreview<Value>> {
    this.#check();
    const name = this.#nameOf(branch);
    const preview = runAbortable('previewMerge', options, 'limit signal', async (own) =>
      (await storeParts()).merge.previewMerge(this.#branchHead, name, own),
    );
    return preview as Promise<MergePreview<Value>>;
  }

  /** Returns the name of a branch, or of the branch of another handle. */
  #nameOf(handle: unknown): string {
    if (typeof handle === 'string') return handle;
    const isStore = typeof handle === 'object' && handle !== null && #first in handle;
    if (!isStore || handle.#first !== this.#first) {
      throw new HedgerowError(
        'invalid-argument',
        'merge takes a branch of this store, or its name',
      );
    }
    handle.#check();
    return handle.branchName;
  }

  /**
   * Returns the link to a remote, where copies of this store on other devices meet. Costs no request; the store keeps
   * what the link knows of the remote, under the name of the remote.
   */
  async remote(remote: Remote, options: LinkOptions = {}): Promise<Link> {
    this.#check();
    const { openStoreLink } = await syncing();
    this.#check();
    const { shared } = this.#branchHead;
    const { durability, changes } = this.handle;
    const [check, settle] = [() => this.#checkOpen(), () => this.#settle()];
    const { branchName } = this;
    return openStoreLink(
      { shared, branchName, durability, changes, check, settle },
      remote,
      options,
    );
  }

  /**
   * Moves the branch to an earlier commit, or to a commit of another branch: this undoes all later writes, also of
   * other tabs, at the cost of moving a pointer. `target` is a snapshot, a root, or the name of a branch. A root that
   * no snapshot and no branch holds may be gone, which is `missing-chunk`. The rows of a commit under other definitions
   * come back with the sum trees that this handle was opened with, or are refused; and with the indexes of that commit
   * and of this handle.
   */
  async resetTo(target: string | Snapshot): Promise<void> {
    this.#check();
    const job = { durability: this.handle.durability, alone: this.#indexing.alone };
    const work = async () => (await storeParts()).resetTo(this.#branchHead, target, job);
    await this.handle.changes.note(work());
    this.#settle();
  }

  /**
   * Makes a copy of all chunks of the head, and of other branches on request, as bytes for `importStore`. Read them by
   * `for await`, or as a `stream()`. It copies the head as it is now, whatever is written or compacted later, and is
   * made as it is read: one or two segments are in memory, and about a hundredth of the store to find them. Each chunk
   * is checked on its way. Segments are copied whole, with their dead chunks: the copy is smallest after `compact()`.
   *
   * Read it to its end, cancel it, or `release()` it: its chunks are kept until then.
   */
  async export(options: ExportOptions = {}): Promise<Export> {
    this.#check();
    const make = async (wanted: ExportOptions, signal: AbortSignal | undefined) => {
      const { exporting } = await storeParts();
      // The reading goes on after this call.
      return exporting.exportStore(this.#branchHead, { ...wanted, signal }, () => this.#check());
    };
    return runAbortable('export', options, 'branches from signal', make, (late) => late.release());
  }

  /**
   * Returns the health of the storage of this store. Asks the browser, and reads no rows: `verify` checks them. Takes
   * some milliseconds. A failure of storage does not reject, but is the state `failing`.
   */
  async health(): Promise<Health> {
    this.#checkOpen();
    const { healthOf } = await loadHealth();
    return healthOf(this.handle.health);
  }

  /**
   * Calls `listener` when `state`, the code of `cause` or `isNearQuota` changes, at most once a second; and soon after
   * this call if something is wrong already. Returns a function that stops it. No timer runs: storage is checked when
   * a call of it fails or works again, after `persist`, and after a write once 10 seconds have passed, or 16 MiB were
   * written, since the last check.
   *
   * All branches share the health. Listeners are called until the store is closed. If it is deleted, they are called
   * once more, with a `cause` whose code is `closed`.
   */
  onHealth(listener: HealthListener): () => void {
    this.#checkOpen();
    return this.handle.health.on(listener);
  }

  /**
   * Asks the browser to delete the storage of this origin only when the user says so. Resolves to whether this holds
   * now, or to `undefined` if the browser does not say. Call it in a handler of a click or a key. Firefox asks the
   * user: the promise settles when the user answers, which may be never. No other call waits for it.
   */
  async persist(): Promise<boolean | undefined> {
    this.#checkOpen();
    return this.handle.health.persist();
  }

  /**
   * Frees the space of rows that were changed or deleted, and of loads that were cut off. A store also compacts itself
   * when it stores twice as much as it needs. Deletes no chunk that a snapshot, a branch or a running read uses, in any
   * tab. Reads the internal nodes of the trees, and all leaves where large values are stored apart from them.
   *
   * Where several tabs have the store open, one of them compacts it, and this call asks that tab. If it does not answer
   * within 3 seconds, as when it is suspended, this tab takes over, and begins after 3 more. Rejects with `blocked`
   * where no Web Locks show what other tabs use: see `idb({ exclusive })`.
   */
  async compact(): Promise<CompactResult> {
    this.from.check();
    return this.handle.collector.request();
  }

  /**
   * Returns how much the store holds, and the shape of its tree. Reads all internal nodes, and all leaves if the live
   * chunks cannot be known without them.
   */
  async stats(): Promise<Stats> {
    this.from.check();
    const { statsOf } = await readParts();
    return statsOf(this.from.host, this.from.branchHead, this.handle.collector.failure);
  }

  /**
   * Reads all chunks of the newest commit from storage and checks them: each against its hash and its form, keys,
   * counts and levels across nodes, large values against their pieces. It does not end at a fault, but reports each one
   * with the keys that it covers. Works in slices, holds about 32 MiB in addition to the store's own memory, and takes
   * about as long as reading everything.
   */
  async verify(options: VerifyOptions = {}): Promise<Verification> {
    this.from.check();
    return runAbortable('verify', options, 'checkIndexes signal onProgress', async (wanted) =>
      (await verifying()).verifyOpen(this.from.branchHead, wanted),
    );
  }

  /**
   * Brings a damaged store to the newest commit that verifies completely, as a new commit. If no commit verifies, it
   * fails with the first fault of the newest one, and the store does not change; with `salvage` it keeps the newest
   * one, and deletes its damaged key ranges. A sound store stays as it is. Other writes wait until the repair ends.
   */
  async repair(options: RepairOptions = {}): Promise<RepairResult> {
    this.#check();
    return runAbortable(
      'repair',
      options,
      'salvage checkIndexes signal onProgress',
      async (wanted) => {
        const { repairOpen } = await repairing();
        const result = await repairOpen(this.#branchHead, wanted, this.#branchHead.shared.announce);
        for (const db of [this.#first, ...this.#first.#others]) db.#settle();
        return result;
      },
    );
  }

  /**
   * Closes the store after the writes under way have ended. Your code that they wait for (the function of a
   * transaction, a source that is no array or Blob, `onConflict`) has a second to end; after that the writes reject
   * with `closed`, and are dropped. Watches end. Idempotent.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // Calls from here on find the store closed.
    await null;
    const { shared, pins } = this.#branchHead;
    if (this.#first === this) this.#tabs?.close();
    const [reason, isLost] = [this.#closedError(), this.#first.#closedBy !== undefined];
    const watching = this.handle.watchers.close(reason, !isLost);
    const ended = this.handle.changes.close(reason, isLost);
    const aborts = [...this.handle.flushers].map((flusher) =>
      flusher.abort('the store was closed'),
    );
    const others = [...this.#others].map((other) => other.close());
    const edits = this.handle.edits.drainEdits();
    await Promise.all([watching, edits, this.handle.changes.over(), ...aborts, ...others]);
    ended();
    await this.#builder.close();
    if (this.#first !== this) {
      this.#first.#others.delete(this);
      this.#branchHead.leave();
      return;
    }
    this.handle.health.close();
    await this.handle.collector.close();
    await shared.afterAll(() => this.#host.segments.close());
    pins.close();
    this.#host.engine.end(reason);
  }
}
