/** What a user holds: an open store. */

import { disposable } from '../base/disposable.js';
import { HedgerowError } from '../base/errors.js';
import { optionsOf, RANGE, rangeOf } from '../base/options.js';
import type { KeyRange } from '../base/range.js';
import type { ByteSource } from '../base/read-bytes.js';
import { checkSignal, ending } from '../base/signal.js';
import type { Branch, BranchOptions } from '../branches/branches.js';
import type { MergeOptions, MergeResult } from '../branches/merge.js';
import { Collecting } from '../collect/collecting.js';
import type { CollectResult } from '../collect/collection.js';
import { hex } from '../core/engine.js';
import type { Host } from '../core/host.js';
import { BranchHead } from '../history/branch-head.js';
import { refOfBranch } from '../history/branch-name.js';
import { REF } from '../history/inventory.js';
import type { IndexRange } from '../indexes/columns.js';
import { Changes } from '../read/changes.js';
import { type ReadContext, readContext } from '../read/context.js';
import type { Change, DiffOptions } from '../read/diff.js';
import type { Rows } from '../read/scan.js';
import type { Stats } from '../read/stats.js';
import type { RepairOptions, RepairResult } from '../repair/repair.js';
import type { Durability } from '../storage/segment-store.js';
import { loadSums } from '../sums/sum-tree.js';
import type { Tabs } from '../tabs/tabs.js';
import { type Deletes, deleteMany } from '../transaction/delete-many.js';
import type { TransactionOptions } from '../transaction/run.js';
import { transacting } from '../transaction/transacting.js';
import type { Transaction } from '../transaction/transaction.js';
import type { Export, ExportOptions } from '../transfer/export.js';
import type { Verification, VerifyOptions } from '../verify/verify.js';
import type { WatchCallback, WatchOptions } from '../watch/watcher.js';
import { Watchers } from '../watch/watchers.js';
import { IndexBuilder } from '../write/index-builder.js';
import type { IngestResult } from '../write/ingest.js';
import { applyPatch, type Patch, type PatchOptions } from '../write/patch.js';
import { deleteRange, type PutManyOptions, putMany } from '../write/put-many.js';
import { SingleEdits } from '../write/single-edits.js';
import { isFed, type Source } from '../write/source.js';
import { Flusher, Writer, type WriterOptions } from '../write/writer.js';
import { counting, repairing, verifying } from './later.js';
import { type Indexing, type OpenOptions, openParts } from './open.js';
import { diffOf, Reader } from './reader.js';
import { Snapshot } from './snapshot.js';
import { storeParts } from './store-later.js';

/** An open store. Made by `open`. */
export class Store extends Reader {
  /** The name that it was opened under. */
  readonly name: string;
  readonly #from: ReadContext;
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #edits: SingleEdits;
  readonly #durability: Durability;
  readonly #changes: Changes;
  readonly #flushers = new Set<Flusher>();
  readonly #tabs: Tabs | undefined;
  readonly #collector: Collecting;
  readonly #watchers: Watchers;
  readonly #builder: IndexBuilder;
  readonly #indexing: Indexing;
  /** As `close`, for `await using`. */
  declare readonly [Symbol.asyncDispose]: () => Promise<void>;
  /** The handle that was opened first, which closes with all others. */
  readonly #first: Store;
  /** The handles of branches that it has opened. */
  readonly #others = new Set<Store>();
  #closing: Promise<void> | undefined;
  /** Why it was closed, if not because somebody asked for it. */
  #closedBy: HedgerowError | undefined;

  private constructor(
    name: string,
    host: Host,
    branchHead: BranchHead,
    durability: Durability,
    tabs: Tabs | undefined,
    indexing: Indexing,
    first?: Store,
  ) {
    const changes = new Changes();
    const edits = new SingleEdits(host, branchHead, durability);
    const check = () => this.#check();
    const from = readContext(host, branchHead, edits.pending, check, changes, durability);
    super(from);
    disposable(Store.prototype, 'asyncDispose', Store.prototype.close);
    this.#from = from;
    this.#changes = changes;
    this.#first = first ?? this;
    this.name = name;
    this.#tabs = tabs;
    this.#host = host;
    this.#branchHead = branchHead;
    this.#durability = durability;
    this.#edits = edits;
    this.#indexing = indexing;
    this.#builder = new IndexBuilder(host, branchHead, { ...indexing, durability });
    this.#watchers = new Watchers(host, branchHead);
    this.#collector = first ? first.#collector : new Collecting(host, branchHead, tabs);
    branchHead.onMoved(() => this.#collector.changed());
    branchHead.onMoved(() => this.#watchers.moved());
    this.#settle();
    if (first !== undefined) {
      first.#others.add(this);
      return;
    }
    branchHead.shared.onFull = () => this.#collector.full();
    branchHead.shared.onLost = (cause) => {
      if (this.#closing !== undefined) return;
      this.#closedBy = cause;
      this.close().catch(() => {});
    };
    if (branchHead.shared.lost !== undefined) branchHead.shared.lose(branchHead.shared.lost);
  }

  /** Opens a store; see the function `open`. */
  static async open(name: string, options: OpenOptions = {}): Promise<Store> {
    const { host, branchHead, durability, tabs, indexing } = await openParts(name, options);
    return new Store(name, host, branchHead, durability, tabs, indexing);
  }

  /** The hash of all that the store holds, in hexadecimal. */
  get root(): string {
    return hex(this.#branchHead.head.commitBytes);
  }

  /** The name of the branch that reads and writes go to: `main` when it was opened. */
  get branchName(): string {
    return this.#branchHead.branchName;
  }

  /** Throws when nothing can be read or written. */
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
   * The store as it is now, with the same reads, whatever is written meanwhile. Nothing is
   * copied, and nothing that it reaches is collected until it is released: by `using`, by
   * `release()`, or when it is forgotten.
   */
  snapshot(): Snapshot {
    this.#check();
    return new Snapshot(this.#branchHead, () => this.#checkOpen());
  }

  /**
   * Another handle, which reads and writes the branch `name`. When there is none it is forked from
   * where this handle stands, or `from` a snapshot or a root, at the cost of one small write.
   * Close it when it is done with; it closes with the handle that the store was opened by.
   */
  async branch(name: string, options: BranchOptions = {}): Promise<Store> {
    this.#check();
    const ref = refOfBranch(name);
    const wanted = optionsOf('branch', options, 'from');
    const { openBranch } = (await storeParts()).branches;
    this.#check();
    const line = new BranchHead(this.#branchHead.shared, ref);
    try {
      await openBranch(line, this.#branchHead, wanted, this.#durability);
      this.#checkOpen();
    } catch (cause) {
      line.leave();
      throw cause;
    }
    const shared = [this.#durability, this.#tabs, this.#indexing, this.#first] as const;
    return new Store(this.name, this.#host, line, ...shared);
  }

  /** All branches, the main one first, each with where it was forked. */
  async branches(): Promise<Branch[]> {
    this.#checkOpen();
    return (await storeParts()).branches.listBranches(this.#branchHead);
  }

  /** Deletes a branch. Handles that stand on it, in any tab, fail with `branch-not-found` from then on; watches end so. */
  async deleteBranch(name: string): Promise<void> {
    this.#checkOpen();
    const work = async () =>
      (await storeParts()).branches.deleteBranch(this.#branchHead, name, this.#durability);
    return this.#changes.note(work());
  }

  /**
   * Has reads and writes of this handle go to the branch `name` from then on. Writes that were
   * called for before end first; `blocked` while a writer is open.
   */
  async switchTo(name: string): Promise<void> {
    this.#checkOpen();
    const ref = refOfBranch(name);
    const change = async () => {
      // A change that has begun since builds on the branch before.
      if (!this.#changes.areOver) return false;
      if (this.#flushers.size > 0) throw new HedgerowError('blocked', 'a writer is open');
      await this.#branchHead.switchTo(ref);
      return true;
    };
    do {
      await this.#edits.flushed();
      while (!this.#changes.areOver) await this.#changes.over();
      this.#checkOpen();
    } while (!(await this.#branchHead.shared.queued(change)));
    this.#settle();
  }

  /** The branch may be another one now, or at a commit that others have made. */
  #settle(): void {
    this.#builder.look();
    if (this.#host.sums !== undefined) {
      // What goes wrong is told to whoever reads them.
      const follow = async () => (await loadSums()).followed(this.#from);
      follow().catch(() => {});
    }
    this.#watchers.recovery.tell();
  }

  /**
   * Brings what was changed in another branch, since it was forked from this one or last merged
   * with it, into this one, in one commit. A key that both have changed, to different values, is a
   * conflict, of which `onConflict` decides; without it nothing is merged, and the error `conflict` has them as its
   * `conflicts`. Indexes and sum trees stay those of this branch, made of the rows that come of it.
   */
  async merge(branch: string | Store, options: MergeOptions = {}): Promise<MergeResult> {
    this.#check();
    const job = this.#jobOf('merge', options, 'onConflict');
    const name = typeof branch === 'string' ? branch : this.#nameOf(branch);
    return this.#run(job, job.onConflict !== undefined, async (own) => {
      const { merge } = await storeParts();
      return merge.mergeBranch(this.#branchHead, name, own);
    });
  }

  /** The name of the branch of another handle. */
  #nameOf(handle: unknown): string {
    const isStore = typeof handle === 'object' && handle !== null && #first in handle;
    if (!isStore || handle.#first !== this.#first) {
      throw new HedgerowError('invalid-argument', 'neither a name nor a handle of this open store');
    }
    handle.#check();
    return handle.branchName;
  }

  /**
   * Moves the branch to a commit of before, or of another branch: undo of all writes since, those of other tabs
   * too, at the cost of moving a pointer. `target` is a snapshot, a root, or the name of a branch. A root that no
   * snapshot and no branch holds may be gone, which is `missing-chunk`. Of a commit that was made under other
   * definitions the rows come back, with the indexes and sum trees that this handle was opened with, or are refused.
   */
  async resetTo(target: string | Snapshot): Promise<void> {
    this.#check();
    const job = { durability: this.#durability, alone: this.#indexing.alone };
    const work = async () => (await storeParts()).resetTo(this.#branchHead, target, job);
    await this.#changes.note(work());
    this.#settle();
  }

  /**
   * Puts many rows in one commit: all of them are seen, or none. Keys may come in any order;
   * of equal keys the last wins. Ascending keys into an empty store are fastest, and take
   * bounded memory. Other writes go on meanwhile; the commit comes when the rows end, on top
   * of theirs.
   *
   * Rows come from an iterable or async iterable, or as bytes, NDJSON or one JSON array of
   * them, which is the faster way: from a `Response`, a `Blob`, a stream, or an iterable of
   * parts. A malformed row of bytes is `invalid-row`, with its number and offset. What the source, or the `key`
   * function, throws is what the call rejects with, as it is; nothing is put then.
   */
  async putMany<Row>(
    source: Source<Row> | ByteSource,
    options: PutManyOptions<Row> = {},
  ): Promise<IngestResult> {
    this.#check();
    const job = this.#jobOf('putMany', options, 'key prefix format onProgress');
    return this.#run(job, isFed(source), (own) =>
      putMany(this.#host, this.#branchHead, source, own),
    );
  }

  /**
   * Deletes many rows in one commit: those with the keys of an iterable, or all of a range.
   * A range is dropped unread, at the cost of its two ends; the result then tells how many
   * rows there were.
   */
  async deleteMany(
    keysOrRange: Deletes,
    options: Pick<PutManyOptions<string>, 'signal' | 'durability'> = {},
  ): Promise<IngestResult> {
    this.#check();
    const job = this.#jobOf('deleteMany', options);
    const isTaken = isFed(keysOrRange);
    return this.#run(job, isTaken, (own) => {
      const remove = () => deleteMany(this.#from, keysOrRange, own);
      // What comes one by one cannot be taken again.
      return isTaken ? remove() : this.#collector.makingRoom(remove);
    });
  }

  /**
   * Applies a patch in one commit, all of it or, when one of its operations is malformed or
   * updates what is no object, nothing: it then fails with `invalid-patch`, which tells the
   * operation. An operation that a later one of the patch has the last word over (a `put` or `del` of its key, a
   * `clear`) is not carried out, and what it would have updated is not looked at. Operations take no longer in one
   * order than in another. They come as rows come to `putMany`; the `rows` of the result are operations.
   */
  async applyPatch(patch: Patch, options: PatchOptions = {}): Promise<IngestResult> {
    this.#check();
    const job = this.#jobOf('applyPatch', options, 'format onProgress');
    return this.#run(job, isFed(patch), (own) =>
      applyPatch(this.#host, this.#branchHead, patch, own),
    );
  }

  /**
   * Runs `body` and commits what it has put and deleted, all of it or, when it throws, nothing.
   * `body` reads the store as it was when the transaction began, with its own edits so far. When
   * something that it has read was changed before its commit, it is run again from anew: so it
   * is as if transactions came one after the other, in all tabs. Without edits it commits
   * nothing.
   *
   * Resolves to what `body` returned. Rejects with what it threw, and with `conflict` when it was
   * overtaken again and again.
   */
  async transaction<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    this.#check();
    if (typeof body !== 'function') {
      throw new HedgerowError('invalid-argument', 'a transaction is a function');
    }
    const job = this.#jobOf('transaction', options);
    const { waits } = this.#changes;
    return this.#run(job, false, async (own) => {
      const { Transactions } = await transacting();
      return new Transactions(this.#host, this.#branchHead).run(body, { ...own, waits });
    });
  }

  /** Checks the options of a change. */
  #jobOf<Options extends TransactionOptions>(call: string, options: Options, names = '') {
    const job = optionsOf(call, options, `${names} signal durability`);
    checkSignal(job.signal);
    return { durability: this.#durability, ...job };
  }

  /** See `Changes.run`. */
  #run<T, Job extends TransactionOptions>(
    job: Job,
    waitsForCaller: boolean,
    change: (job: Job) => Promise<T>,
  ): Promise<T> {
    return this.#changes.run(job.signal, waitsForCaller, (signal) => change({ ...job, signal }));
  }

  /** Deletes all rows. */
  async clear(): Promise<void> {
    this.#check();
    const job = { durability: this.#durability };
    await this.#run(job, false, (own) => deleteRange(this.#host, this.#branchHead, {}, own));
  }

  /**
   * A writer that takes rows one by one without a promise for each:
   * `if (!writer.tryPut(key, value)) await writer.put(key, value);`. Nothing is seen before
   * `writer.finish()`, or before every `commitEvery` rows. It holds up no other write; when
   * the store is closed, or the writer forgotten, its rows are dropped.
   */
  writer(options: WriterOptions = {}): Writer {
    this.#check();
    const { commitEvery = Number.POSITIVE_INFINITY, durability = this.#durability } = optionsOf(
      'writer',
      options,
      'commitEvery durability',
    );
    const flusher = new Flusher(this.#host, this.#branchHead, durability, commitEvery, (ended) =>
      this.#flushers.delete(ended),
    );
    this.#flushers.add(flusher);
    return new Writer(flusher);
  }

  /** Puts one row. Rows put in one turn share one commit. */
  async put(key: string, value: unknown): Promise<void> {
    this.#check();
    return this.#edits.put(key, value);
  }

  /** Deletes one row; does nothing when there is none. */
  async delete(key: string): Promise<void> {
    this.#check();
    return this.#collector.makingRoom(() => this.#edits.delete(key));
  }

  /**
   * The changes that have led from a root to the head as it is when the reading begins, in the
   * order of keys: what has happened while a page was closed that has kept its `root`. A root from
   * which no branch or snapshot keeps the collector away may not be stored any more, or not whole:
   * then it fails with `missing-chunk`, after some changes perhaps. The root of an empty store
   * always works. Costs the nodes that the two do not share.
   */
  changes<Value = unknown>(sinceRoot: string, range: DiffOptions = {}): Rows<Change<Value>> {
    const host = () => {
      this.#check();
      return this.#host;
    };
    return diffOf(host, this.#branchHead, sinceRoot, undefined, range) as Rows<Change<Value>>;
  }

  /**
   * Calls `callback` with the changes in a range since its last call, in the order of keys, whoever
   * has made them, in this tab or another; returns how to stop. Begins at `root` as it is now; with
   * `initial` the first call tells all rows as `add`. It is never called without a change, and not
   * for values that were put again as they were.
   *
   * With `index` the changes are those of its entries in a range of it, in its order, each with its
   * secondary key: of a row with an array, those of each member. The index need not be ready for
   * that, but `initial` waits for it.
   *
   * Commits that come while callbacks are called are told together. What a commit costs is in
   * proportion to its changes and to the calls that they lead to. All changes of a call are in memory
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
    this.#check();
    const wanted = rangeOf('watch', range, RANGE.entries);
    const how = optionsOf('watch', options, 'initial signal onError');
    return this.#watchers.watch(wanted, callback as WatchCallback, how);
  }

  /**
   * Calls `listener` when a watch that has ended with an error may be begun again: after `repair`, `resetTo` and
   * `switchTo` of this handle, and when its branch, which was deleted, was made anew. Returns how to stop.
   */
  onRecovery(listener: () => void): () => void {
    return this.#watchers.recovery.on(listener);
  }

  /**
   * Gives back the room of what no commit reaches any more: rows that were changed or deleted,
   * and what loads have left that were cut off. It happens by itself, too, when as much again
   * as is needed is stored. What anybody reads, here or in another tab, stays. Costs the internal
   * nodes, and what is moved; where values are stored out of line, all leaves.
   *
   * Where several tabs have the store open one of them is its collector, and is asked. When it is silent
   * for 3 seconds, as a suspended tab is, this one takes its place, and collects after 3 more. Rejects with
   * `blocked` where nobody can tell what other tabs use: see `idb({ exclusive })`.
   */
  async collect(): Promise<CollectResult> {
    this.#check();
    return this.#collector.request();
  }

  /**
   * What the store holds, and the shape of its tree. Reads all internal nodes, and all leaves
   * when it is not plain without them what is live.
   */
  async stats(): Promise<Stats> {
    this.#check();
    const { statsOf } = await counting();
    return statsOf(this.#host, this.#branchHead, this.#collector.failure);
  }

  /**
   * Reads all that the newest commit reaches from storage and checks it: each chunk against its
   * hash and its form, keys, counts and levels across nodes, large values against their pieces.
   * It does not end at a fault: each is told with the keys that it covers. Works in slices, holds
   * about 32 MiB beside the store's own memory, and takes about as long as reading everything.
   */
  async verify(options: VerifyOptions = {}): Promise<Verification> {
    this.#check();
    const wanted = optionsOf('verify', options, 'checkIndexes signal onProgress');
    checkSignal(wanted.signal);
    const read = async (signal: AbortSignal | undefined) =>
      (await verifying()).verifyOpen(this.#branchHead, { ...wanted, signal });
    return ending(wanted.signal, read).result;
  }

  /**
   * Makes a copy of all that the head reaches, and of other branches if they are wanted, as bytes
   * to be read by `importStore`: by `for await`, or as a `stream()`. It is of the head as it is now,
   * whatever is written or collected meanwhile, and is made as it is read: a segment or two are in
   * memory, and about a hundredth of the store to find them by. Each chunk is checked on its way.
   * Segments leave whole, with what is dead in them: after `collect()` the copy is smallest.
   *
   * Read it to its end, cancel it, or `release()` it: until then nothing of it is collected.
   */
  async export(options: ExportOptions = {}): Promise<Export> {
    this.#check();
    const wanted = optionsOf('export', options, 'branches from signal');
    checkSignal(wanted.signal);
    const make = async () => {
      const { exporting } = await storeParts();
      return exporting.exportStore(this.#branchHead, wanted, () => this.#check());
    };
    return ending(wanted.signal, make, { drop: (late) => late.release() }).result;
  }

  /**
   * Brings a damaged store to the newest commit that verifies wholly, as a new commit. When none
   * does it fails with the first fault of the newest one and changes nothing; with `salvage` it
   * keeps that, and deletes the key ranges that are damaged. Does nothing to a sound store. Other
   * writes wait meanwhile.
   */
  async repair(options: RepairOptions = {}): Promise<RepairResult> {
    this.#check();
    const wanted = optionsOf('repair', options, 'salvage checkIndexes signal onProgress');
    checkSignal(wanted.signal);
    const onCommit = (generation: number) => this.#tabs?.announce(REF, generation);
    const work = async (signal: AbortSignal | undefined) => {
      const { repairOpen } = await repairing();
      const result = await repairOpen(this.#branchHead, { ...wanted, signal }, onCommit);
      for (const db of [this.#first, ...this.#first.#others]) db.#settle();
      return result;
    };
    return ending(wanted.signal, work).result;
  }

  /**
   * Closes the store, after the writes under way have ended. Code of yours that they wait for (the function of a
   * transaction, a source that is no array or Blob, `onConflict`) has a second to end; after that they reject with
   * `closed`, and nothing of them is written. Watches end. Idempotent.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // What is called from here on finds it closed.
    await null;
    const { shared, pins } = this.#branchHead;
    if (this.#first === this) this.#tabs?.close();
    const [reason, isLost] = [this.#closedError(), this.#first.#closedBy !== undefined];
    const watching = this.#watchers.close(reason, !isLost);
    const ended = this.#changes.close(reason, isLost);
    const aborts = [...this.#flushers].map((flusher) => flusher.abort('the store was closed'));
    const others = [...this.#others].map((other) => other.close());
    const edits = this.#edits.settled();
    await Promise.all([watching, edits, this.#changes.over(), ...aborts, ...others]);
    ended();
    await this.#builder.close();
    if (this.#first !== this) {
      this.#first.#others.delete(this);
      this.#branchHead.leave();
      return;
    }
    await this.#collector.close();
    await shared.afterAll(() => this.#host.segments.close());
    pins.close();
  }
}
