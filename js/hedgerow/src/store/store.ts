import { disposable } from '../base/disposable.js';
import { HedgerowError } from '../base/errors.js';
import { hex } from '../base/hex.js';
import { runAbortable } from '../base/run-abortable.js';
import type { Host } from '../core/engine-host.js';
import type { Branch, BranchesOptions, BranchOptions } from '../engine/branches/branches.js';
import type {
  MergeOptions,
  MergePreview,
  MergeResult,
  PreviewOptions,
} from '../engine/branches/merge.js';
import { CollectionScheduler } from '../engine/collect/collection-scheduler.js';
import type { BranchHead } from '../engine/history/branch-head.js';
import { Changes } from '../engine/read/changes.js';
import { readContext } from '../engine/read/context.js';
import type { RepairOptions, RepairResult } from '../engine/repair/types.js';
import { loadSums } from '../engine/sums/sum-tree.js';
import type { Export, ExportOptions } from '../engine/transfer/export.js';
import { Watchers } from '../engine/watch/watchers.js';
import { IndexBuilder } from '../engine/write/index-builder.js';
import { SingleEdits } from '../engine/write/single-edits.js';
import type { Durability } from '../storage/segment-store.js';
import type { Tabs } from '../storage/tabs/tabs.js';
import type { Link } from '../sync/link/link.js';
import type { LinkOptions } from '../sync/link/open-link.js';
import type { Remote } from '../sync/remote/remote.js';
import { CareCalls } from './care-calls.js';
import type { HealthWatch } from './health-watch.js';
import { repairing } from './later.js';
import { type IndexBuildOptions, type OpenOptions, openParts } from './open.js';
import { Snapshot } from './snapshot.js';
import { storeParts, syncing } from './store-later.js';

/** An open store. Made by `open`. */
export class Store extends CareCalls {
  /** The name that it was opened under. */
  readonly name: string;
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #tabs: Tabs | undefined;
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
    tabs: Tabs | undefined,
    indexing: IndexBuildOptions,
    health: HealthWatch,
    first?: Store,
  ) {
    const changes = new Changes();
    const edits = new SingleEdits(host, branchHead, durability);
    const check = () => this.#check();
    const from = readContext(host, branchHead, edits.pending, check, changes, durability);
    const collector = first
      ? first.handle.collector
      : new CollectionScheduler(host, branchHead, tabs);
    const watchers = new Watchers(host, branchHead);
    super(from, { edits, changes, durability, collector, flushers: new Set(), health, watchers });
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
    this.checkOpen();
    this.#branchHead.checkThere();
  }

  protected override checkOpen(): void {
    if (this.#closing === undefined && this.#first.#closing === undefined) return;
    throw this.#closedError();
  }

  #closedError(): HedgerowError {
    const cause = this.#first.#closedBy;
    return new HedgerowError('closed', `the store ${this.name} is closed`, { cause });
  }

  /**
   * Returns the store as it is now, with the same reads, whatever is written later. It copies no rows, and its chunks
   * are kept until it is released: by `using`, by `release()`, or when it is garbage-collected.
   */
  snapshot(): Snapshot {
    this.#check();
    return new Snapshot(this.#branchHead, () => this.checkOpen());
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
    const check = () => this.checkOpen();
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
    this.checkOpen();
    return (await storeParts()).branches.listBranches(this.#branchHead, options);
  }

  /**
   * Deletes a branch. Handles that stand on it, in any tab, fail with `branch-not-found` from then on; their watches
   * end with this error.
   */
  async deleteBranch(name: string): Promise<void> {
    this.checkOpen();
    const work = async () =>
      (await storeParts()).branches.deleteBranch(this.#branchHead, name, this.handle.durability);
    return this.handle.changes.note(work());
  }

  /**
   * Moves this handle, with its reads and writes, to the branch `name`. Earlier writes end first; rejects with
   * `blocked` while a writer is open.
   */
  async switchTo(name: string): Promise<void> {
    this.checkOpen();
    const { switchBranch } = await storeParts();
    await switchBranch(this.#branchHead, name, this.handle, () => this.checkOpen());
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
    const job = this.jobOf('merge', options, 'onConflict');
    const name = this.#nameOf(branch);
    return this.run(job, job.onConflict !== undefined, async (own) => {
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
    const [check, settle] = [() => this.checkOpen(), () => this.#settle()];
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
