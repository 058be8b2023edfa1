/** What a user holds: an open store. */

import {
  type Branch,
  type BranchOptions,
  deleteBranch,
  listBranches,
  openBranch,
  refOfBranch,
  resetTo,
} from './branches.js';
import type { ByteSource } from './bytes.js';
import { Collecting } from './collecting.js';
import type { CollectResult } from './collection.js';
import { Commits } from './commit.js';
import { type Change, type DiffOptions, diffOf } from './diff.js';
import { hex } from './engine.js';
import { HedgerowError } from './errors.js';
import type { Host } from './host.js';
import { IndexBuilder } from './indexes/builder.js';
import type { IndexRange } from './indexes/secondary.js';
import type { IngestResult } from './ingest.js';
import { REF } from './inventory.js';
import { counting, repairing, summing, verifying } from './later.js';
import type { MergeOptions, MergeResult } from './merge.js';
import { type Indexing, type OpenOptions, openParts } from './opening.js';
import { applyPatch, type Patch, type PatchOptions } from './patch.js';
import { deleteRange, type PutManyOptions, putMany } from './put-many.js';
import type { KeyRange } from './range.js';
import { Reader } from './reads.js';
import type { RepairOptions, RepairResult } from './repair.js';
import type { Rows } from './scan.js';
import type { Durability } from './segment-store.js';
import { checkSignal } from './signal.js';
import { SingleEdits } from './single-edits.js';
import { Snapshot } from './snapshot.js';
import type { Source } from './source.js';
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

/** An open store. Made by `open`. */
export class Store extends Reader {
  /** The name that it was opened under. */
  readonly name: string;
  readonly #host: Host;
  readonly #commits: Commits;
  readonly #edits: SingleEdits;
  readonly #transactions: Transactions;
  readonly #durability: Durability;
  readonly #bulks = new Set<Promise<void>>();
  readonly #flushers = new Set<Flusher>();
  readonly #tabs: Tabs | undefined;
  readonly #collector: Collecting;
  readonly #watchers: Watchers;
  readonly #builder: IndexBuilder;
  readonly #indexing: Indexing;
  /** The handle that was opened first, which closes with all others. */
  readonly #first: Store;
  /** The handles of branches that it has opened. */
  readonly #others = new Set<Store>();
  #closing: Promise<void> | undefined;
  readonly #closes: AbortController;
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
    const write: Standpoint['write'] = (change) => this.#bulk(change(durability, closing.signal));
    const from = standpoint(host, commits, () => this.#check(), write);
    super(from);
    this.#closes = closing;
    this.#first = first ?? this;
    this.name = name;
    this.#tabs = tabs;
    this.#host = host;
    this.#commits = commits;
    this.#durability = durability;
    this.#edits = new SingleEdits(host, commits, durability);
    this.#transactions = new Transactions(host, commits);
    this.#indexing = indexing;
    this.#builder = new IndexBuilder(host, commits, { ...indexing, durability });
    this.#watchers = new Watchers(host, commits);
    this.#collector = first ? first.#collector : new Collecting(host, commits, tabs);
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
    const facts = cause === undefined ? {} : { cause };
    throw new HedgerowError('closed', `the store ${this.name} is closed`, facts);
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
    const line = new Commits(this.#commits.trunk, refOfBranch(name));
    try {
      await openBranch(line, this.#commits, options, this.#durability);
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
    return listBranches(this.#commits);
  }

  /** Deletes a branch. Handles that stand on it, in any tab, fail with `missing` from then on. */
  async deleteBranch(name: string): Promise<void> {
    this.#checkOpen();
    return this.#bulk(deleteBranch(this.#commits, name, this.#durability));
  }

  /**
   * Has reads and writes of this handle go to the branch `name` from then on. Writes that were
   * called for before end first; `blocked` while a writer is open.
   */
  async switchTo(name: string): Promise<void> {
    this.#checkOpen();
    const ref = refOfBranch(name);
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
    checkSignal(options.signal);
    const name = branch instanceof Store ? branch.#branchOf(this) : branch;
    const durability = options.durability ?? this.#durability;
    const merge = async () => {
      const { mergeBranch } = await import('./merge.js');
      return mergeBranch(this.#commits, name, { ...options, durability });
    };
    return this.#bulk(merge());
  }

  #branchOf(store: Store): string {
    this.#check();
    if (this.#first === store.#first) return this.branchName;
    throw new HedgerowError('invalid-argument', 'the branch is of another open store');
  }

  /**
   * Moves the branch to a commit of before, or of another branch: undo, at the cost of moving a
   * pointer. `target` is a snapshot, a root, or the name of a branch. A root that no snapshot
   * and no branch holds may be gone, which is `missing-chunk`.
   */
  async resetTo(target: string | Snapshot): Promise<void> {
    this.#check();
    return this.#bulk(resetTo(this.#commits, target, this.#durability));
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
    checkSignal(options.signal);
    const durability = options.durability ?? this.#durability;
    return this.#bulk(putMany(this.#host, this.#commits, source, { ...options, durability }));
  }

  /**
   * Deletes many rows in one commit: those with the keys of an iterable, or all of a range.
   * A range is dropped unread, at the cost of its two ends; the result then tells how many
   * rows there were.
   */
  async deleteMany(
    keysOrRange: Source<string> | KeyRange,
    options: Pick<PutManyOptions<string>, 'signal' | 'durability'> = {},
  ): Promise<IngestResult> {
    this.#check();
    checkSignal(options.signal);
    if (typeof keysOrRange !== 'object' || keysOrRange === null) {
      throw new HedgerowError('invalid-argument', 'deleteMany takes keys or a range');
    }
    const durability = options.durability ?? this.#durability;
    const isRange = !(Symbol.iterator in keysOrRange || Symbol.asyncIterator in keysOrRange);
    if (isRange) {
      return this.#bulk(
        deleteRange(this.#host, this.#commits, keysOrRange as KeyRange, durability),
      );
    }
    const job = { ...options, durability, deletes: true };
    const keys = keysOrRange as Source<string>;
    return this.#bulk(putMany(this.#host, this.#commits, keys, job));
  }

  /**
   * Applies a patch in one commit, all of it or, when one of its operations is malformed or
   * updates what is no object, nothing: it then fails with `invalid-patch`, which tells the
   * operation. Operations count in their order, but take no longer in one order than in another.
   * They come as rows come to `putMany`; the `rows` of the result are operations.
   */
  async applyPatch(patch: Patch, options: PatchOptions = {}): Promise<IngestResult> {
    this.#check();
    checkSignal(options.signal);
    const durability = options.durability ?? this.#durability;
    return this.#bulk(applyPatch(this.#host, this.#commits, patch, { ...options, durability }));
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
    { durability = this.#durability, signal }: TransactionOptions = {},
  ): Promise<T> {
    this.#check();
    if (typeof body !== 'function') {
      throw new HedgerowError('invalid-argument', 'a transaction is a function');
    }
    return this.#bulk(this.#transactions.run(body, { durability, signal }));
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
    await this.deleteMany({});
  }

  /**
   * A writer that takes rows one by one without a promise for each:
   * `if (!writer.tryPut(key, value)) await writer.put(key, value);`. Nothing is seen before
   * `writer.finish()`, or before every `commitEvery` rows. It holds up no other write; when
   * the store is closed, or the writer forgotten, its rows are dropped.
   */
  writer({ commitEvery = Number.POSITIVE_INFINITY, durability }: WriterOptions = {}): Writer {
    this.#check();
    if (!(commitEvery >= 1)) {
      throw new HedgerowError('invalid-argument', 'commitEvery is at least 1');
    }
    const flusher = new Flusher(
      this.#host,
      this.#commits,
      durability ?? this.#durability,
      commitEvery,
      (ended) => this.#flushers.delete(ended),
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
    return this.#watchers.watch(range, callback as WatchCallback, options);
  }

  /**
   * Gives back the room of what no commit reaches any more: rows that were changed or deleted,
   * and what loads have left that were cut off. It happens by itself, too, when as much again
   * as is needed is stored. What anybody reads, here or in another tab, stays. Costs the internal
   * nodes, and what is moved; where values are stored out of line, all leaves.
   *
   * Where several tabs have the store open one of them is its collector, and is asked. When it is silent
   * for 3 seconds, as a suspended tab is, this one takes its place, and collects after 6 more. Rejects with
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
    return statsOf(this.#host, this.#commits);
  }

  /**
   * Reads all that the newest commit reaches from storage and checks it: each chunk against its
   * hash and its form, keys, counts and levels across nodes, large values against their pieces.
   * It does not end at a fault: each is told with the keys that it covers. Works in slices, holds
   * about 32 MiB beside the store's own memory, and takes about as long as reading everything.
   */
  async verify(options: VerifyOptions = {}): Promise<Verification> {
    this.#check();
    checkSignal(options.signal);
    const { segments, sliceMs } = this.#host;
    const { pins } = this.#commits;
    const { inspect } = await verifying();
    const pin = (commitBytes: Uint8Array) => pins.use(commitBytes);
    return (await inspect(segments, sliceMs, pin, options)).verification;
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
    checkSignal(options.signal);
    const { exportStore } = await import('./transfer/export.js');
    return exportStore(this.#commits, options, () => this.#check());
  }

  /**
   * Brings a damaged store to the newest commit that verifies wholly, as a new commit. When none
   * does it fails with the first fault of the newest one and changes nothing; with `salvage` it
   * keeps that, and deletes the key ranges that are damaged. Does nothing to a sound store. Other
   * writes wait meanwhile.
   */
  async repair(options: RepairOptions = {}): Promise<RepairResult> {
    this.#check();
    checkSignal(options.signal);
    const { segments, sliceMs } = this.#host;
    const { repairStore } = await repairing();
    const onCommit = (generation: number) => this.#tabs?.announce(REF, generation);
    const pin = (commitBytes: Uint8Array) => this.#commits.pins.use(commitBytes);
    const job = { ...options, sliceMs, durability: 'strict', pin, onCommit } as const;
    const repair = async () => {
      const result = await repairStore(segments, job);
      await this.#commits.trunk.keepUp();
      return result;
    };
    return this.#commits.exclusively(repair, options.signal);
  }

  /** Closes the store, after the writes under way have ended. Idempotent. */
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
    await Promise.all([this.#edits.settled(), ...this.#bulks, ...aborts, ...others]);
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
  check: () => void,
  write: Standpoint['write'],
): Standpoint {
  return {
    host,
    commits,
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
