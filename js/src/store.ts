/** What a user holds: an open store. */

import type { Branch, BranchOptions } from './branches.js';
import type { ByteSource } from './bytes.js';
import { Collector, type CollectResult } from './collector.js';
import { Commits } from './commit.js';
import { type Deletes, deleteMany } from './delete-many.js';
import type { Change, DiffOptions } from './diff.js';
import { disposable } from './disposable.js';
import { hex } from './engine.js';
import { HedgerowError } from './errors.js';
import type { Host } from './host.js';
import { IndexBuilder } from './indexes/builder.js';
import type { IndexRange } from './indexes/secondary.js';
import type { IngestResult } from './ingest.js';
import { REF } from './inventory.js';
import { counting, repairing, summing, verifying } from './later.js';
import { MAX_CLOSE_WAIT_MS } from './limits.js';
import type { MergeOptions, MergeResult } from './merge.js';
import { type Indexing, type OpenOptions, openParts } from './opening.js';
import { optionsOf, RANGE, rangeOf } from './options.js';
import { applyPatch, type Patch, type PatchOptions } from './patch.js';
import type { Pending } from './pending.js';
import { deleteRange, type PutManyOptions, putMany } from './put-many.js';
import type { KeyRange } from './range.js';
import { diffOf, Reader } from './reads.js';
import type { RepairOptions, RepairResult } from './repair.js';
import type { Rows } from './scan.js';
import type { Durability } from './segment-store.js';
import { checkSignal, Endings } from './signal.js';
import { SingleEdits } from './single-edits.js';
import { Snapshot } from './snapshot.js';
import { isFed, type Source } from './source.js';
import type { Standpoint } from './standpoint.js';
import type { Stats } from './stats.js';
import type { Tabs } from './tabs.js';
import { type TransactionOptions, Transactions } from './transaction/run.js';
import type { Transaction } from './transaction/transaction.js';
import type { Export, ExportOptions } from './transfer/export.js';
import type { Verification, VerifyOptions } from './verify.js';
import type { WatchCallback, WatchOptions } from './watch/watcher.js';
import { Watchers } from './watch/watchers.js';
import { Flusher, Writer, type WriterOptions } from './writer.js';

/** Branches, merges and exports, when the first of them is used. */
const parts = () => import('./store-parts.js');

/** An open store. Made by `open`. */
export class Store extends Reader {
  /** The name that it was opened under. */
  readonly name: string;
  readonly #from: Standpoint;
  readonly #host: Host;
  readonly #commits: Commits;
  readonly #edits: SingleEdits;
  readonly #durability: Durability;
  readonly #bulks = new Set<Promise<void>>();
  readonly #flushers = new Set<Flusher>();
  readonly #tabs: Tabs | undefined;
  readonly #collector: Collector;
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
  readonly #closes: AbortController;
  /** Of what waits for its caller: closing ends it after a while. */
  readonly #ends: Endings;
  /** Why it was closed, if not because somebody asked for it. */
  #closedBy: HedgerowError | undefined;

  private constructor(
    name: string,
    host: Host,
    commits: Commits,
    durability: Durability,
    tabs: Tabs | undefined,
    indexing: Indexing,
    first?: Store,
  ) {
    const closing = new AbortController();
    const edits = new SingleEdits(host, commits, durability);
    const ends = new Endings();
    const write: Standpoint['write'] = (change) =>
      this.#bulk(change(durability, closing.signal, ends));
    const from = standpoint(host, commits, edits.pending, () => this.#check(), write);
    super(from);
    disposable(Store.prototype, 'asyncDispose', Store.prototype.close);
    this.#from = from;
    this.#closes = closing;
    this.#ends = ends;
    this.#first = first ?? this;
    this.name = name;
    this.#tabs = tabs;
    this.#host = host;
    this.#commits = commits;
    this.#durability = durability;
    this.#edits = edits;
    this.#indexing = indexing;
    this.#builder = new IndexBuilder(host, commits, { ...indexing, durability });
    this.#watchers = new Watchers(host, commits);
    const onGone = () => tabs?.announceGone();
    this.#collector = first ? first.#collector : new Collector(host, commits, onGone);
    commits.onMoved(() => this.#collector.changed());
    commits.onMoved(() => this.#watchers.moved());
    if (first !== undefined) {
      first.#others.add(this);
      return;
    }
    // What goes wrong is told to whoever reads them.
    if (host.sums !== undefined)
      summing()
        .then(({ followed }) => followed(from))
        .catch(() => {});
    if (tabs !== undefined) tabs.onCollect = () => this.#collector.collect(true);
    this.#collector.changed();
    commits.pins.becomesCollector.then(() => this.#collector.changed());
    commits.trunk.onFinalTrap = (cause) => {
      this.#closedBy = cause;
      this.close().catch(() => {});
    };
  }

  /** Opens a store; see the function `open`. */
  static async open(name: string, options: OpenOptions = {}): Promise<Store> {
    const { host, commits, durability, tabs, indexing } = await openParts(name, options);
    return new Store(name, host, commits, durability, tabs, indexing);
  }

  /** The hash of all that the store holds, in hexadecimal. */
  get root(): string {
    return hex(this.#commits.head.commitBytes);
  }

  /** The name of the branch that reads and writes go to: `main` when it was opened. */
  get branchName(): string {
    return this.#commits.branchName;
  }

  /** Throws when nothing can be read or written. */
  #check(): void {
    this.#checkOpen();
    this.#commits.checkThere();
  }

  #checkOpen(): void {
    if (this.#closing === undefined && this.#first.#closing === undefined) return;
    const cause = this.#first.#closedBy;
    throw new HedgerowError('closed', `the store ${this.name} is closed`, { cause });
  }

  /**
   * The store as it is now, with the same reads, whatever is written meanwhile. Nothing is
   * copied, and nothing that it reaches is collected until it is released: by `using`, by
   * `release()`, or when it is forgotten.
   */
  snapshot(): Snapshot {
    this.#check();
    return new Snapshot(this.#commits, () => this.#checkOpen());
  }

  /**
   * Another handle, which reads and writes the branch `name`. When there is none it is forked from
   * where this handle stands, or `from` a snapshot or a root, at the cost of one small write.
   * Close it when it is done with; it closes with the handle that the store was opened by.
   */
  async branch(name: string, options: BranchOptions = {}): Promise<Store> {
    this.#check();
    const wanted = optionsOf('branch', options, 'from');
    const { openBranch, refOfBranch } = (await parts()).branches;
    this.#check();
    const line = new Commits(this.#commits.trunk, refOfBranch(name));
    try {
      await openBranch(line, this.#commits, wanted, this.#durability);
      this.#checkOpen();
    } catch (cause) {
      line.leave();
      throw cause;
    }
    const shared = [this.#durability, this.#tabs, this.#indexing, this.#first] as const;
    return new Store(this.name, this.#host, line, ...shared);
  }

  /** All branches, the main one first. */
  async branches(): Promise<Branch[]> {
    this.#checkOpen();
    const { branches } = await parts();
    return branches.listBranches(this.#commits);
  }

  /** Deletes a branch. Handles that stand on it, in any tab, fail with `missing` from then on. */
  async deleteBranch(name: string): Promise<void> {
    this.#checkOpen();
    const drop = async () => {
      const { branches } = await parts();
      return branches.deleteBranch(this.#commits, name, this.#durability);
    };
    return this.#bulk(drop());
  }

  /**
   * Has reads and writes of this handle go to the branch `name` from then on. Writes that were
   * called for before end first; `blocked` while a writer is open.
   */
  async switchTo(name: string): Promise<void> {
    this.#checkOpen();
    const ref = (await parts()).branches.refOfBranch(name);
    const isBusy = () => this.#bulks.size > 0;
    const change = async () => {
      // A change that has begun since builds on the branch before.
      if (isBusy()) return false;
      if (this.#flushers.size > 0) throw new HedgerowError('blocked', 'a writer is open');
      await this.#commits.switchTo(ref);
      return true;
    };
    do {
      await this.#edits.flushed();
      while (isBusy()) await Promise.all(this.#bulks);
      this.#checkOpen();
    } while (!(await this.#commits.queued(change)));
  }

  /**
   * Brings what was changed in another branch, since it was forked from this one or last merged
   * with it, into this one, in one commit. A key that both have changed, to different values, is a
   * conflict, of which `onConflict` decides; without it nothing is merged, and `conflict` tells.
   */
  async merge(branch: string | Store, options: MergeOptions = {}): Promise<MergeResult> {
    this.#check();
    const job = this.#jobOf('merge', options, 'onConflict');
    const name = typeof branch === 'string' ? branch : this.#nameOf(branch);
    return this.#waiting(job, job.onConflict !== undefined, async (own) => {
      const { merge } = await parts();
      return merge.mergeBranch(this.#commits, name, own);
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
   * Moves the branch to a commit of before, or of another branch: undo, at the cost of moving a
   * pointer. `target` is a snapshot, a root, or the name of a branch. A root that no snapshot
   * and no branch holds may be gone, which is `missing-chunk`.
   */
  async resetTo(target: string | Snapshot): Promise<void> {
    this.#check();
    const reset = async () => {
      const { branches } = await parts();
      return branches.resetTo(this.#commits, target, this.#durability);
    };
    return this.#bulk(reset());
  }

  /**
   * Puts many rows in one commit: all of them are seen, or none. Keys may come in any order;
   * of equal keys the last wins. Ascending keys into an empty store are fastest, and take
   * bounded memory. Other writes go on meanwhile; the commit comes when the rows end, on top
   * of theirs.
   *
   * Rows come from an iterable or async iterable, or as bytes, NDJSON or one JSON array of
   * them, which is the faster way: from a `Response`, a `Blob`, a stream, or an iterable of
   * parts. A malformed row of bytes is `invalid-row`, with its number and offset.
   */
  async putMany<Row>(
    source: Source<Row> | ByteSource,
    options: PutManyOptions<Row> = {},
  ): Promise<IngestResult> {
    this.#check();
    const job = this.#jobOf('putMany', options, 'key prefix format onProgress');
    return this.#waiting(job, isFed(source), (own) =>
      putMany(this.#host, this.#commits, source, own),
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
    return this.#waiting(job, isFed(keysOrRange), (own) =>
      deleteMany(this.#from, keysOrRange, own),
    );
  }

  /**
   * Applies a patch in one commit, all of it or, when one of its operations is malformed or
   * updates what is no object, nothing: it then fails with `invalid-patch`, which tells the
   * operation. Operations count in their order, but take no longer in one order than in another.
   * They come as rows come to `putMany`; the `rows` of the result are operations.
   */
  async applyPatch(patch: Patch, options: PatchOptions = {}): Promise<IngestResult> {
    this.#check();
    const job = this.#jobOf('applyPatch', options, 'format onProgress');
    return this.#waiting(job, isFed(patch), (own) =>
      applyPatch(this.#host, this.#commits, patch, own),
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
    const transactions = new Transactions(this.#host, this.#commits);
    return this.#waiting(job, true, (own) => transactions.run(body, own));
  }

  /** Checks the options of a change. */
  #jobOf<Options extends TransactionOptions>(call: string, options: Options, names = '') {
    const job = optionsOf(call, options, `${names} signal durability`);
    checkSignal(job.signal);
    return { durability: this.#durability, ...job };
  }

  /** As `#bulk`. For a change that waits for its caller's code `close` waits for a short time only. */
  #waiting<T, Job extends TransactionOptions>(
    job: Job,
    doesWait: boolean,
    change: (job: Job) => Promise<T>,
  ): Promise<T> {
    if (!doesWait) return this.#bulk(change(job));
    const { signal, end } = this.#ends.begin(job.signal);
    return this.#bulk(change({ ...job, signal }).finally(end));
  }

  /** Keeps account of a change of several steps, which `close` waits for. */
  #bulk<T>(change: Promise<T>): Promise<T> {
    const ended = change.then(
      () => {},
      () => {},
    );
    this.#bulks.add(ended);
    void ended.then(() => this.#bulks.delete(ended));
    return change;
  }

  /** Deletes all rows. */
  async clear(): Promise<void> {
    this.#check();
    const durability = this.#durability;
    await this.#bulk(deleteRange(this.#host, this.#commits, {}, { durability }));
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
    const flusher = new Flusher(this.#host, this.#commits, durability, commitEvery, (ended) =>
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
    return this.#edits.delete(key);
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
    return diffOf(host, this.#commits, sinceRoot, undefined, range) as Rows<Change<Value>>;
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
   * throws is reported (`reportError`, or `console.error` where there is none) and stops nothing.
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
   * Gives back the room of what no commit reaches any more: rows that were changed or deleted,
   * and what loads have left that were cut off. It happens by itself, too, when as much again
   * as is needed is stored. What anybody reads, here or in another tab, stays. Costs the internal
   * nodes, and what is moved; where values are stored out of line, all leaves.
   *
   * Where several tabs have the store open one of them is its collector, and is asked.
   */
  async collect(): Promise<CollectResult> {
    this.#check();
    const { pins } = this.#commits;
    if (pins.isCollector) return this.#collector.collect(true);
    if (!pins.isCollected || this.#tabs === undefined) {
      throw new HedgerowError('blocked', 'nobody can tell here what other tabs use');
    }
    const asked = this.#tabs.askToCollect<CollectResult>();
    let isOver = false;
    // The one that is asked may be closed by now.
    const own = pins.becomesCollector.then(() => (isOver ? asked : this.#collector.collect(true)));
    return Promise.race([asked, own]).finally(() => {
      isOver = true;
    });
  }

  /**
   * What the store holds, and the shape of its tree. Reads all internal nodes, and all leaves
   * when it is not plain without them what is live.
   */
  async stats(): Promise<Stats> {
    this.#check();
    const { statsOf } = await counting();
    return statsOf(this.#host, this.#commits, this.#collector);
  }

  /**
   * Reads all that the newest commit reaches from storage and checks it: each chunk against its
   * hash and its form, keys, counts and levels across nodes, large values against their pieces.
   * It does not end at a fault: each is told with the keys that it covers. Works in slices, holds
   * about 32 MiB beside the store's own memory, and takes about as long as reading everything.
   */
  async verify(options: VerifyOptions = {}): Promise<Verification> {
    this.#check();
    const wanted = optionsOf('verify', options, 'signal onProgress');
    checkSignal(wanted.signal);
    const { segments, sliceMs } = this.#host;
    const { inspect } = await verifying();
    const { verification } = await this.#commits.pins.whileNotCollected(() =>
      inspect(segments, sliceMs, wanted),
    );
    return verification;
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
    const { exporting } = await parts();
    return exporting.exportStore(this.#commits, wanted, () => this.#check());
  }

  /**
   * Brings a damaged store to the newest commit that verifies wholly, as a new commit. When none
   * does it fails with the first fault of the newest one and changes nothing; with `salvage` it
   * keeps that, and deletes the key ranges that are damaged. Does nothing to a sound store. Other
   * writes wait meanwhile.
   */
  async repair(options: RepairOptions = {}): Promise<RepairResult> {
    this.#check();
    const wanted = optionsOf('repair', options, 'salvage signal onProgress');
    checkSignal(wanted.signal);
    const { segments, sliceMs } = this.#host;
    const { repairStore } = await repairing();
    const onCommit = (generation: number) => this.#tabs?.announce(REF, generation);
    const job = { ...wanted, sliceMs, durability: 'strict', onCommit } as const;
    const repair = async () => {
      const result = await repairStore(segments, job);
      await this.#commits.trunk.keepUp();
      return result;
    };
    // What a commit before reaches is nobody's, until it is the head again.
    return this.#commits.pins.whileNotCollected(() =>
      this.#commits.exclusively(repair, wanted.signal),
    );
  }

  /**
   * Closes the store, after the writes under way have ended. What waits for its caller still after
   * a second is ended with `closed`, and writes nothing: a change whose source goes on, other than
   * an array, a `Map`, a `Set`, bytes or a `Blob`; a transaction or a merge whose function has not
   * returned, such as one that waits for `close` itself. Idempotent.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { trunk, pins } = this.#commits;
    if (this.#first === this) this.#tabs?.close();
    await this.#watchers.close();
    this.#closes.abort();
    const aborts = [...this.#flushers].map((flusher) => flusher.abort('the store was closed'));
    const others = [...this.#others].map((other) => other.close());
    const timer = setTimeout(() => {
      const message = 'the store was closed while this waited for its source or its function';
      this.#ends.abort(new HedgerowError('closed', message));
    }, MAX_CLOSE_WAIT_MS);
    await Promise.all([this.#edits.settled(), ...this.#bulks, ...aborts, ...others]);
    clearTimeout(timer);
    await this.#builder.close();
    if (this.#first !== this) {
      this.#first.#others.delete(this);
      this.#commits.leave();
      return;
    }
    await this.#collector.close();
    await trunk.afterAll(() => this.#host.segments.close());
    pins.close();
  }
}

/** Reads of a store see the head, which nobody holds for a short one. */
function standpoint(
  host: Host,
  commits: Commits,
  pending: Pending,
  check: () => void,
  write: Standpoint['write'],
): Standpoint {
  return {
    host,
    commits,
    pending,
    check,
    write,
    get head() {
      return commits.head;
    },
    get isReady() {
      return host.engine.isReady;
    },
    ready: () => host.recover(),
    holdHead: () => commits.holdHead(),
    async moveOn(head) {
      await commits.queued(() => commits.refresh());
      return commits.head !== head;
    },
  };
}
