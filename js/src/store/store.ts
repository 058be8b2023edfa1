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

  /** Throws when nothing can be read or written. */
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
   * The store as it is now, with the same reads, whatever is written meanwhile. Nothing is
   * copied, and nothing of it is deleted until it is released: by `using`, by `release()`, or when it is
   * garbage-collected.
   */
  snapshot(): Snapshot {
    this.#check();
    return new Snapshot(this.#branchHead, () => this.checkOpen());
  }

  /**
   * Another handle, which reads and writes the branch `name`. When there is none it is forked from
   * where this handle stands, or `from` a snapshot or a root, at the cost of one small write.
   * Close it when it is done with; it closes with the handle that the store was opened by.
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

  /** All branches, the main one first, each with where it was forked; those of remotes only if they are asked for. */
  async branches(options: BranchesOptions = {}): Promise<Branch[]> {
    this.checkOpen();
    return (await storeParts()).branches.listBranches(this.#branchHead, options);
  }

  /** Deletes a branch. Handles that stand on it, in any tab, fail with `branch-not-found` from then on; watches end so. */
  async deleteBranch(name: string): Promise<void> {
    this.checkOpen();
    const work = async () =>
      (await storeParts()).branches.deleteBranch(this.#branchHead, name, this.handle.durability);
    return this.handle.changes.note(work());
  }

  /**
   * Has reads and writes of this handle go to the branch `name` from then on. Writes that were
   * called for before end first; `blocked` while a writer is open.
   */
  async switchTo(name: string): Promise<void> {
    this.checkOpen();
    const { switchBranch } = await storeParts();
    await switchBranch(this.#branchHead, name, this.handle, () => this.checkOpen());
    this.#settle();
  }

  /** The branch may be another one now, or at a commit that others have made. */
  #settle(): void {
    this.#builder.look();
    if (this.#host.sums !== undefined) {
      // A failure is reported to those who read the sums.
      const follow = async () => (await loadSums()).followed(this.from);
      follow().catch(() => {});
    }
    this.handle.watchers.recovery.tell();
  }

  /**
   * Brings what was changed in another branch, since it was forked from this one or last merged
   * with it, into this one, in one commit. A key that both have changed, to different values, is a
   * conflict, of which `onConflict` decides; without it nothing is merged, and the error `conflict` has them as its
   * `conflicts`. Indexes and sum trees stay those of this branch, made of the rows that come of it.
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
   * What `merge` would do with a branch now: its changes and its conflicts. Writes nothing, and costs as much reading.
   * All conflicts are in memory, as in a merge, and 1,000 changes, or `limit`.
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

  /** The name of a branch, or of the branch of another handle. */
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
   * A handle of a remote: where copies of this store on other devices meet. Costs no request; what it knows of the remote
   * is kept in the store, under the name of the remote.
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
   * Moves the branch to a commit of before, or of another branch: undo of all writes since, those of other tabs
   * too, at the cost of moving a pointer. `target` is a snapshot, a root, or the name of a branch. A root that no
   * snapshot and no branch holds may be gone, which is `missing-chunk`. Of a commit that was made under other
   * definitions the rows come back with the sum trees that this handle was opened with, or are refused; and with the
   * indexes of that commit and of this handle.
   */
  async resetTo(target: string | Snapshot): Promise<void> {
    this.#check();
    const job = { durability: this.handle.durability, alone: this.#indexing.alone };
    const work = async () => (await storeParts()).resetTo(this.#branchHead, target, job);
    await this.handle.changes.note(work());
    this.#settle();
  }

  /**
   * Makes a copy of all that the head reaches, and of other branches if they are wanted, as bytes
   * to be read by `importStore`: by `for await`, or as a `stream()`. It is of the head as it is now,
   * whatever is written or compacted meanwhile, and is made as it is read: a segment or two are in
   * memory, and about a hundredth of the store to find them by. Each chunk is checked on its way.
   * Segments leave whole, with what is dead in them: after `compact()` the copy is smallest.
   *
   * Read it to its end, cancel it, or `release()` it: until then nothing of it is deleted.
   */
  async export(options: ExportOptions = {}): Promise<Export> {
    this.#check();
    const make = async (wanted: ExportOptions, signal: AbortSignal | undefined) => {
      const { exporting } = await storeParts();
      // Its reading goes on after this call.
      return exporting.exportStore(this.#branchHead, { ...wanted, signal }, () => this.#check());
    };
    return runAbortable('export', options, 'branches from signal', make, (late) => late.release());
  }

  /**
   * Brings a damaged store to the newest commit that verifies wholly, as a new commit. When none
   * does it fails with the first fault of the newest one and changes nothing; with `salvage` it
   * keeps that, and deletes the key ranges that are damaged. Does nothing to a sound store. Other
   * writes wait meanwhile.
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
