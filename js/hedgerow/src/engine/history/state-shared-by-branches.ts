import * as Status from '../../base/abi/status.js';
import { sameBytes } from '../../base/bytes.js';
import { HedgerowError } from '../../base/errors.js';
import { SEGMENTS_PER_WRITER } from '../../base/limits.js';
import { addTable, setNextSegment } from '../../core/calls/segment-calls.js';
import type { Host } from '../../core/operation-host.js';
import { fail } from '../../core/status-errors.js';
import type { Ref } from '../../storage/segment-store.js';
import type { Hold, Pins } from '../../storage/tabs/pins.js';
import { WriterQueue } from '../../storage/tabs/writer-queue.js';
import { Inventory } from './known-segments-and-refs.js';
import type { UndeclaredTrees } from './undeclared-trees.js';

/** Announces a move of a ref to other tabs. */
export type Announce = (ref: string, generation: number) => void;

/** A commit, at the generation of the ref that names it. */
export interface CommitAt {
  readonly commitBytes: Uint8Array;
  readonly generation: number;
}

/** The head of a branch, as the shared store uses it. */
export interface StoreBranch {
  readonly ref: string;
  readonly headPin: { drop(): void };
  /** Moves in the background, since storage has, or may have, a newer generation of its ref. */
  follow(generation?: number): void;
  /** Moves to the target of its ref in storage. */
  keepUp(): Promise<void>;
  /** Opens its view again, in a new instance of the core. */
  reopen(): Promise<void>;
  /** True once the branch was deleted. */
  readonly isGone: boolean;
  /** The commit that the branch is at. */
  readonly head: CommitAt;
  /** The trees that an earlier commit may have left to drop: see `undeclared-trees.ts`. */
  leftovers: UndeclaredTrees;
  /** Moves to the commit to which another handle of this tab has moved the ref. */
  moveAlong(to: CommitAt): Promise<void>;
  /** Moves to the new target of its ref, after this store has moved the ref. */
  stand(ref: Ref): Promise<void>;
}

/**
 * The state that all branches of one open store share: the core, the queue of changes, the ids of segments, the
 * segments known to be stored, and the commits in use.
 */
export class SharedStore {
  /** The host of the core, which may not have started: `queueWork` starts it. */
  readonly host: Host;
  /** The host in which heads are opened: of a reader until the core has started. */
  opening: Host;
  readonly pins: Pins;
  readonly writerQueue: WriterQueue;
  readonly announce: Announce;
  /** The segments and refs that this handle knows. */
  readonly inventory: Inventory;
  /** The heads of the branches that are open here. */
  readonly branchHeads = new Set<StoreBranch>();
  /** Whether a head was opened once; stays true after a trap. */
  isOpen = false;
  /** Bytes of segments that changes in progress here have made, and that no commit reaches yet. */
  unusedBytes = 0;
  /**
   * Makes a writer wait when far more than the live bytes are stored; `undefined` when it need not wait. A bulk change
   * waits longer than a small one.
   */
  waitForSpace: (isBulk: boolean) => Promise<void> | undefined = () => undefined;
  /** Ends all collections in progress: see `garbage-collection-fence.ts`. */
  endCollections: () => Promise<unknown> = async () => {};
  /** Rejects with `missing-chunk` when a held commit lacks a chunk: see `verify/check-all-chunks-stored.ts`. */
  checkWhole: (commitBytes: Uint8Array) => Promise<void> = async () => {};
  /** Throws when a writer of rows does not own its branch: see `mutators/sole-branch-writer.ts`. */
  checkOwner: (writer: StoreBranch) => void = () => {};
  /** The reason why all calls fail from now on: the core has trapped for good, or the store was deleted. */
  lost: HedgerowError | undefined;
  /** Called when `lost` is set. */
  onLost: (cause: HedgerowError) => void = () => {};
  /** Called when storage had no space for a write. */
  onFull: () => void = () => {};
  #lastId = 0;
  #endId = 0;
  #tail: Promise<unknown> = Promise.resolve();
  #rebuilding: Promise<void> | undefined;

  constructor(
    host: Host,
    pins: Pins,
    announce: Announce = () => {},
    writerQueue: WriterQueue = new WriterQueue(),
    reader?: Host,
  ) {
    this.host = host;
    this.opening = reader ?? host;
    this.pins = pins;
    this.writerQueue = writerQueue;
    this.announce = announce;
    this.inventory = new Inventory(() => this.opening);
    host.engine.onTrap(() => {
      const { finalTrap, isOver } = host.engine;
      if (isOver) return;
      if (finalTrap !== undefined) this.lose(finalTrap);
      // While the store is being opened, the opening fails instead.
      else if (this.isOpen) this.ready().catch(() => {});
    });
    for (const one of new Set([host, this.opening])) {
      one.recover = () => this.ready();
      // Another handle may have moved the chunks of a segment that is gone.
      one.onGone = () => this.#onGone(one);
    }
  }

  async #onGone(host: Host): Promise<void> {
    if (host === this.opening) return this.inventory.load();
    // A last read of the reader is under way.
    const { tables } = await host.segments.load();
    for (const { id, tableBytes } of tables) addTable(host.engine, id, tableBytes);
  }

  /** Makes all calls fail from now on. */
  lose(cause: HedgerowError): void {
    this.lost ??= cause;
    this.onLost(this.lost);
  }

  /** Follows a move of this ref by another tab to this generation; without a ref, any ref may have moved. */
  followRef(ref?: string, generation?: number): void {
    for (const branch of this.branchHeads) {
      if (ref === undefined || ref === branch.ref) branch.follow(generation);
    }
  }

  /** Releases the memory of the core and of the reader for good; each later call throws `reason`. */
  end(reason: HedgerowError): void {
    for (const { engine } of new Set([this.host, this.opening])) engine.end(reason);
  }

  /** Releases the locks that other tabs may wait for, since the page may be suspended after this call. */
  rest(): void {
    for (const { headPin } of this.branchHeads) headPin.drop();
    this.pins.rest();
    this.host.segments.rest?.();
  }

  /** Takes up work when the page continues. */
  wake(): void {
    this.pins.wake().catch(() => {});
    this.followRef();
  }

  /** Moves all branch heads to the targets of their refs in storage. Run it exclusively. */
  async keepUp(): Promise<void> {
    for (const branch of this.branchHeads) await branch.keepUp();
  }

  /** Runs `work` alone, after all work queued before it. Starts the core for it. */
  queueWork<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue(this.host, work);
  }

  /** As `queueWork`, for work that only reads: while there is a reader, it does not start the core. */
  queueRead<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue(undefined, work);
  }

  #queue<T>(host: Host | undefined, work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(() => {
      const { engine } = host ?? this.opening;
      return engine.isReady ? work() : this.rebuild().then(work);
    });
    this.#tail = result.catch(() => {});
    return result;
  }

  /** Runs `change` after all queued work, even if the core has trapped. */
  afterAll(change: () => Promise<void>): Promise<void> {
    this.#tail = this.#tail.then(change);
    return this.#tail as Promise<void>;
  }

  /**
   * Resolves when the core has opened the heads in storage, at its start or after a trap. A call that must act in its own
   * turn checks `engine.isReady` first.
   */
  ready(): Promise<void> {
    this.#rebuilding ??= this.queueWork(async () => {}).finally(() => {
      this.#rebuilding = undefined;
    });
    return this.#rebuilding;
  }

  /** Starts the core, or replaces an instance that trapped. Run it exclusively. */
  async rebuild(): Promise<void> {
    const { engine } = this.host;
    const { finalTrap: cause } = engine;
    if (cause !== undefined)
      throw new HedgerowError('closed', 'the core crashed twice: open it again', { cause });
    this.host.segments.prepareWrites?.();
    await engine.restart();
    // No writer uses the ids of the old instance again, even if storage has no segment of it.
    if (this.#endId > 0) setNextSegment(engine, this.#lastId + 1);
    const reader = this.opening === this.host ? undefined : this.opening;
    this.opening = this.host;
    // Its last reads may be under way.
    reader?.engine.leaveBudget();
    this.inventory.clear(
      reader && [...(reader.engine.reader?.records() ?? []), ...(reader.pendingTables?.rest ?? [])],
    );
    for (const branch of this.branchHeads) await branch.reopen();
    engine.ready();
  }

  /** Opens a view of a commit in the core; the caller closes it. */
  async openView(
    commitBytes: Uint8Array,
    host = this.host,
  ): Promise<{ host: Host; view: number; rows: number }> {
    const { engine } = host;
    let status = engine.openView(commitBytes);
    while (status === Status.need) {
      await host.load(engine.readNeededParts());
      status = engine.openView(commitBytes);
    }
    if (status !== Status.done) fail(engine, status);
    return { host, ...engine.openedView() };
  }

  /** Holds a commit from now on, even if some of its chunks are already deleted. */
  hold(commitBytes: Uint8Array): Promise<Hold> {
    return this.pins.use(commitBytes);
  }

  /**
   * Holds a commit that was a head once; rejects with `missing-chunk` when it lacks a chunk. If a ref points to the
   * commit after it was pinned, it has all chunks: see `tabs/pins.ts`. Otherwise checks all chunks that it reaches,
   * which costs a read of its internal nodes.
   */
  async holdAny(commitBytes: Uint8Array): Promise<Hold> {
    const hold = await this.hold(commitBytes);
    try {
      await this.queueWork(() => this.inventory.look());
      const isRef = this.inventory.commitRefs.some((ref) =>
        sameBytes(ref.commitBytes, commitBytes),
      );
      if (!isRef) await this.checkWhole(commitBytes);
      return hold;
    } catch (cause) {
      hold.release();
      throw cause;
    }
  }

  /** Makes sure that new segments have ids that no other writer uses. */
  async prepareIds(freesSpace?: boolean): Promise<void> {
    if (this.#endId - this.#lastId > SEGMENTS_PER_WRITER / 2) return;
    const writer = await this.host.segments.reserve(freesSpace);
    this.#lastId = writer * SEGMENTS_PER_WRITER;
    this.#endId = this.#lastId + SEGMENTS_PER_WRITER;
    setNextSegment(this.host.engine, this.#lastId);
  }

  /** Records a segment that was made here. */
  registerSegment(id: number): void {
    this.inventory.recordSegment(id);
    // The core assigns ids, and a collection takes its segments late: higher ids may be taken already.
    this.#lastId = Math.max(this.#lastId, id);
  }
}
