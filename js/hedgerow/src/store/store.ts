/**
 * The open store: all that apps call on it, in one class, so this file is longer than the others. Each call takes a few
 * lines, over other rooms.
 */

import type { ByteSource } from '../base/byte-source.js';
import { checkRangeOptions, ENTRY_RANGE, optionsOf } from '../base/check-options.js';
import { keptValue } from '../base/check-value.js';
import { disposable } from '../base/disposable.js';
import { HedgerowError } from '../base/errors.js';
import { hex } from '../base/hex.js';
import { LOOK, type LookOption, OWN, RECOVERY } from '../base/internal-symbols.js';
import type { KeyRange } from '../base/range.js';
import { runAbortable } from '../base/run-abortable.js';
import type { IndexRange } from '../core/indexes/index-range.js';
import type { Host } from '../core/operation-host.js';
import { CollectionScheduler } from '../engine/collect/collection-scheduler.js';
import type { BranchHead } from '../engine/history/branch-head.js';
import { readContext } from '../engine/read/context.js';
import { UnfinishedChanges } from '../engine/read/unfinished-changes.js';
import { loadSums } from '../engine/sums/sum-tree.js';
import { type Deletes, deleteMany } from '../engine/transaction/delete-many.js';
import { transacting } from '../engine/transaction/on-demand-transaction-code.js';
import type { CommitResult, TransactionJob } from '../engine/transaction/run.js';
import type { CapturedValue, ValueUpdate } from '../engine/transaction/single-row.js';
import type { Transaction } from '../engine/transaction/transaction.js';
import {
  type CommitOptions,
  TRANSACTION_OPTIONS,
  type TransactionOptions,
} from '../engine/transaction/transaction-options.js';
import { BranchWatches } from '../engine/watch/branch-watches.js';
import { WATCH_OPTIONS, type WatchOptions } from '../engine/watch/watch-options.js';
import type { WatchCallback } from '../engine/watch/watcher-types.js';
import { IndexBuilder } from '../engine/write/background-index-builder.js';
import { deleteRange, putMany } from '../engine/write/bulk-change.js';
import {
  DELETE_MANY_OPTIONS,
  type DeleteManyOptions,
  LOAD_OPTIONS,
  PUT_MANY_OPTIONS,
  type PutManyOptions,
} from '../engine/write/bulk-options.js';
import { inOrder } from '../engine/write/call-order.js';
import type { WriteResult } from '../engine/write/ingest.js';
import { applyPatch, type Patch, type PatchOptions } from '../engine/write/patch.js';
import { SingleEdits } from '../engine/write/single-edits.js';
import { isFed, type Source } from '../engine/write/source-kind.js';
import { EDIT_OPTIONS, type EditOptions } from '../engine/write/waiting-edit.js';
import { Flusher, WRITER_OPTIONS, Writer, type WriterOptions } from '../engine/write/writer.js';
import type { Durability } from '../storage/segment-store.js';
import type { TabMessages } from '../storage/tabs/tab-messages.js';
import type { Connection } from '../sync/link/connection.js';
import type { Transport } from '../sync/link/transport.js';
import { type HandleAccess, type Job, jobOf, runChange } from './handle-access.js';
import { loadConnector } from './on-demand-store-code.js';
import { type IndexBuildOptions, type OpenOptions, openParts } from './open.js';
import { Reader } from './reader.js';
import { Snapshot } from './snapshot.js';
import type { HealthTracker } from './storage-health-tracker.js';
import { createBackup, type StoreBackup } from './store-backup.js';
import { createBranches, type StoreBranches } from './store-branches.js';
import { createHealth, type StoreHealth } from './store-health.js';
import { createHistory, type StoreHistory } from './store-history.js';

type TransactionParts = Awaited<ReturnType<typeof transacting>>;

/** An open store. Made by `open`. */
export class Store extends Reader {
  /** The name that it was opened under. */
  readonly name: string;
  /** Branches: handles of their own, which can be merged. */
  readonly branches: StoreBranches<Store>;
  /** The changes between commits. */
  readonly history: StoreHistory;
  /** The storage of the store, and the soundness of its rows in it. */
  readonly health: StoreHealth;
  /** Copies of the store. */
  readonly backup: StoreBackup;
  /** The handle as its namespaces use it. */
  protected readonly handle: HandleAccess<Store>;
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #tabs: TabMessages | undefined;
  readonly #builder: IndexBuilder;
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
    const watchers = new BranchWatches(host, branchHead);
    super(from);
    const flushers = new Set<Flusher>();
    this.handle = {
      from,
      edits,
      changes,
      durability,
      collector,
      flushers,
      health,
      watchers,
      indexing,
      checkOpen: () => this.#checkOpen(),
      settle: (all) => {
        for (const db of all ? [this.#first, ...this.#first.#others] : [this]) db.#settle();
      },
      transact: (body, job) => this.#transact(body, job),
      handleOf: (other) =>
        new Store(name, host, other, durability, tabs, indexing, health, this.#first),
      nameOf: (branch) => this.#nameOf(branch),
    };
    this.branches = createBranches(this.handle);
    this.history = createHistory(this.handle);
    this.health = createHealth(this.handle);
    this.backup = createBackup(this.handle);
    disposable(Store.prototype, 'asyncDispose', Store.prototype.close);
    this.#first = first ?? this;
    this.name = name;
    this.#tabs = tabs;
    this.#host = host;
    this.#branchHead = branchHead;
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
  ): Promise<WriteResult> {
    this.from.check();
    const job = jobOf(this.handle, 'putMany', options, PUT_MANY_OPTIONS);
    const look = (options as LookOption)[LOOK];
    return runChange(this.handle, job, isFed(source), (own) =>
      putMany(this.from.host, this.from.branchHead, source, { ...own, look }),
    );
  }

  /**
   * Deletes many rows in one commit: the rows with the keys of an iterable, or all rows of a range. It drops a range
   * unread, at the cost of its two ends; the result then has the number of its rows.
   */
  async deleteMany(keysOrRange: Deletes, options: DeleteManyOptions = {}): Promise<WriteResult> {
    this.from.check();
    const job = jobOf(this.handle, 'deleteMany', options, DELETE_MANY_OPTIONS);
    const isTaken = isFed(keysOrRange);
    return runChange(this.handle, job, isTaken, (own) => {
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
  async applyPatch(patch: Patch, options: PatchOptions = {}): Promise<WriteResult> {
    this.from.check();
    const job = jobOf(this.handle, 'applyPatch', options, LOAD_OPTIONS);
    const { host, branchHead, pending } = this.from;
    const after = pending?.all();
    return runChange(this.handle, job, isFed(patch), (own) =>
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
    const job = jobOf(this.handle, 'transaction', options, TRANSACTION_OPTIONS);
    return (await this.#transact(body, job)).value;
  }

  /** Runs a transaction whose function belongs to the library: later calls take effect after it. */
  async [OWN]<T>(
    body: (tx: Transaction) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<CommitResult<T>> {
    const job = jobOf(this.handle, 'transaction', options, TRANSACTION_OPTIONS);
    return this.#transact(body, job, true);
  }

  #transact<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    job: Job<CommitOptions>,
    holdsUp = false,
  ): Promise<CommitResult<T>> {
    const { host, branchHead } = this.from;
    return this.#transacting(job, holdsUp, ({ Transactions }, own) =>
      new Transactions(host, branchHead).run(body, own),
    );
  }

  #transacting<T>(
    job: Job<CommitOptions>,
    holdsUp: boolean,
    work: (parts: TransactionParts, job: TransactionJob) => Promise<T>,
  ): Promise<T> {
    this.from.check();
    const { waits } = this.handle.changes;
    const { before, over, end } = inOrder(this.from, holdsUp);
    return runChange(this.handle, job, false, async (own) => {
      try {
        await before;
        return await work(await transacting(), { ...own, waits, over });
      } finally {
        end();
      }
    });
  }

  /** Deletes all rows. */
  async clear(options: TransactionOptions = {}): Promise<WriteResult> {
    this.from.check();
    const job = jobOf(this.handle, 'clear', options, TRANSACTION_OPTIONS);
    return runChange(this.handle, job, false, (own) =>
      deleteRange(this.from.host, this.from.branchHead, {}, own),
    );
  }

  /**
   * Returns a writer that takes rows one by one without a promise for each:
   * `if (!writer.tryPut(key, value)) await writer.put(key, value);`. Rows become visible at `writer.close()`, or every
   * `commitEvery` rows. A writer holds up no other write. Its rows are dropped if the store is closed, or the writer is
   * garbage-collected.
   */
  writer(options: WriterOptions = {}): Writer {
    this.from.check();
    const { commitEvery = Number.POSITIVE_INFINITY, durability = this.handle.durability } =
      optionsOf('writer', options, WRITER_OPTIONS);
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
    const job = jobOf(this.handle, call, options, TRANSACTION_OPTIONS);
    return this.#transacting(job, typeof what !== 'function', change);
  }

  #edit(
    call: string,
    options: EditOptions | undefined,
    edit: (own?: EditOptions) => Promise<void>,
  ): Promise<void> {
    return options === undefined ? edit() : runAbortable(call, options, EDIT_OPTIONS, edit);
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
    const wanted = checkRangeOptions('watch', range, ENTRY_RANGE);
    const how = optionsOf('watch', options, WATCH_OPTIONS);
    return this.handle.watchers.watch(wanted, callback, how);
  }

  /** Calls `listener` when a watch that has ended with an error may begin again: see `onRecovery`. */
  [RECOVERY](listener: () => void): () => void {
    return this.handle.watchers.recovery.on(listener);
  }

  /**
   * Returns the store as it is now, with the same reads, whatever is written later. It copies no rows, and its chunks
   * are kept until it is closed: by `using`, by `close()`, or when it is garbage-collected.
   */
  snapshot(): Snapshot {
    this.#check();
    return new Snapshot(this.#branchHead, () => this.#checkOpen());
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

  /** Returns the name of a branch, or of the branch of another handle. */
  #nameOf(handle: unknown): string {
    if (typeof handle === 'string') return handle;
    const isStore = typeof handle === 'object' && handle !== null && #first in handle;
    if (!isStore || handle.#first !== this.#first) {
      throw new HedgerowError(
        'invalid-argument',
        'branches.merge takes a branch of this store, or its name',
      );
    }
    handle.#check();
    return handle.#branchHead.branchName;
  }

  /**
   * Connects this branch with another side: `bucket(remote)`, `rest(options)` or `mutators(options)` of `hedgerow/sync`.
   * Costs no request, and loads only the code of that kind. The store keeps what it knows of the other side, under the
   * name of the connection.
   */
  async connect<C extends Connection>(transport: Transport<C, Transaction>): Promise<C> {
    this.#check();
    const connect = await loadConnector(transport);
    if (!this.#host.engine.isReady) await this.#host.recover();
    this.#check();
    const { shared, branchName } = this.#branchHead;
    const { durability, changes } = this.handle;
    const [check, settle] = [() => this.#checkOpen(), () => this.#settle()];
    const host = { shared, branchName, durability, changes, check, settle };
    return (await connect(host, transport as never)) as C;
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
    shared.end(reason);
  }
}
