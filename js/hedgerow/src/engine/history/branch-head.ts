import { checkSignal } from '../../base/abort-signal.js';
import { sameBytes } from '../../base/bytes.js';
import { partOnce } from '../../base/dynamic-import.js';
import { HedgerowError, isMissing } from '../../base/errors.js';
import { FORMAT } from '../../base/limits.js';
import type { Host } from '../../core/operation-host.js';
import type { Ref, SegmentRecord } from '../../storage/segment-store.js';
import type { Hold, Pins } from '../../storage/tabs/pins.js';
import { Bulks, type Overrides } from './bulk-change-order.js';
import { HeadPin } from './head-pin.js';
import type { Head, HeldHead } from './head-types.js';
import type { JointWrite, MoveOptions } from './joint-moves.js';
import { BRANCH_REF, EMPTY_COMMIT, type Inventory, REF } from './known-segments-and-refs.js';
import type { CommitAt, SharedStore, StoreBranch } from './state-shared-by-branches.js';
import { possibleUndeclaredTrees } from './undeclared-trees.js';

export type { Head, HeldHead, Overrides };

const importRefWrites = () => import('./ref-write.js');

/** Less than any number of a view. */
const NO_VIEW = -1;

/**
 * The head of one branch: the commit that the branch is at, and the publication of new commits. It publishes one commit
 * at a time, by compare-and-set on the ref in the transaction of the commit's last segments. `state-shared-by-branches.ts` has the
 * state that the branches of an open store share.
 */
export class BranchHead implements StoreBranch {
  readonly shared: SharedStore;
  /** The host of the core. */
  readonly #host: Host;
  #ref: string;
  readonly #onMoved = new Set<() => void>();
  #head: Head;
  #opened = false;
  #isGone = false;
  /** Keeps all of the head's chunks stored while the head is held. */
  readonly headPin: HeadPin;
  /** The number of holds of each view. */
  readonly #uses = new Map<number, number>();
  #durableGeneration = 0;
  /** The generation of the last commit made here. */
  #ownGeneration = 0;
  #following: Promise<void> | undefined;
  /** Another tab has moved the ref, and its commit could not be read. */
  isBehind = false;
  leftovers = possibleUndeclaredTrees();
  /** The branch has no rows of the app, so it gets no sum trees. */
  isBare = false;
  /** The newest generation that another tab has announced. */
  #news = 0;
  /** Bulk changes of this branch that are in progress. */
  readonly bulks = new Bulks();

  /** Makes the head of the branch with this ref. Call `refresh` before any other method. */
  constructor(shared: SharedStore, ref: string = REF) {
    this.shared = shared;
    this.#host = shared.host;
    this.#ref = ref;
    const { opening: host } = shared;
    this.#head = { commitBytes: EMPTY_COMMIT, generation: 0, host, view: NO_VIEW, rows: 0 };
    this.headPin = new HeadPin(this);
    shared.branchHeads.add(this);
  }

  get pins(): Pins {
    return this.shared.pins;
  }

  get inventory(): Inventory {
    return this.shared.inventory;
  }

  /** The ref of the branch. */
  get ref(): string {
    return this.#ref;
  }

  /** The name of the branch. */
  get branchName(): string {
    return this.#ref === REF ? REF : this.#ref.slice(BRANCH_REF.length);
  }

  /** True once the branch was deleted. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Throws `not-found/branch` when the branch was deleted. */
  checkThere(): void {
    if (!this.#isGone) return;
    throw new HedgerowError('not-found/branch', `there is no branch ${this.branchName}`);
  }

  /** True if other tabs have written recently: see `WriterQueue.isBusy`. */
  get isContended(): boolean {
    return this.shared.writerQueue.isBusy;
  }

  /** The commit that reads see. */
  get head(): Head {
    return this.#head;
  }

  /**
   * Calls `listener` after each move of the head, in this tab or another, and when the branch was found deleted.
   * `listener` must not throw. Returns a function that ends the calls.
   */
  onMoved(listener: () => void): () => void {
    // A new function for each call: the same listener may be added twice.
    const own = () => listener();
    this.#onMoved.add(own);
    return () => {
      this.#onMoved.delete(own);
    };
  }

  /**
   * Moves to the newest commit in storage; true if the head changes. With `tells`, a deleted branch notifies listeners.
   */
  async refresh(tells = true): Promise<boolean> {
    const found = (await this.inventory.look()).get(this.#ref);
    const wasGone = this.#isGone;
    this.#isGone = found === undefined && this.#ref !== REF;
    if (this.#isGone) {
      this.headPin.drop();
      if (!wasGone && tells) this.#tellMoved();
    }
    this.checkThere();
    const generation = found?.generation ?? 0;
    if (this.#opened && generation === this.#head.generation) {
      this.isBehind = false;
      return false;
    }
    this.#opened = true;
    try {
      await this.moveTo(found?.commitBytes ?? EMPTY_COMMIT, generation);
      this.isBehind = false;
    } catch (cause) {
      // The commit is not pinned yet. If the ref has moved on, a collection may have deleted the commit: try again.
      const now = isMissing(cause) ? (await this.inventory.look()).get(this.#ref) : found;
      if (now?.generation === found?.generation) throw cause;
      return this.refresh(tells);
    }
    this.shared.isOpen = true;
    return true;
  }

  /** As `refresh`, but resolves when the branch was deleted: its next use reports that. */
  async keepUp(): Promise<void> {
    await this.refresh().catch((cause: unknown) => {
      if (!this.#isGone) throw cause;
    });
  }

  /** Opens the newest commit in storage in a new instance of the core. */
  reopen(): Promise<void> {
    this.#opened = false;
    return this.keepUp();
  }

  /** Moves to the target of an existing ref, whose commit is held. */
  async stand({ commitBytes, generation }: Ref): Promise<void> {
    this.#opened = true;
    this.#isGone = false;
    this.leftovers = possibleUndeclaredTrees();
    await this.moveTo(commitBytes, generation);
  }

  /** Switches to another ref. Run it exclusively, while no change that began on the old ref is in progress. */
  async switchTo(ref: string): Promise<void> {
    const before = this.#ref;
    const wasGone = this.#isGone;
    this.#ref = ref;
    this.#opened = false;
    try {
      await this.refresh(false);
      this.leftovers = possibleUndeclaredTrees();
      this.#durableGeneration = 0;
      this.#ownGeneration = this.#head.generation;
    } catch (cause) {
      this.#ref = before;
      this.#isGone = wasGone;
      this.#opened = true;
      throw cause;
    }
  }

  get #stands(): boolean {
    return this.shared.branchHeads.has(this);
  }

  /** Closes this head: removes it from the store, and releases its pin and view. */
  leave(): void {
    this.shared.branchHeads.delete(this);
    this.headPin.drop();
    const { host, view } = this.#head;
    if (!this.#uses.has(view)) host.engine.closeView(view);
  }

  /**
   * Holds the commit that reads see: no collection deletes its chunks until it is released. A tab that is not the
   * collector may first wait for its own commits, and move to the newest commit.
   */
  async holdHead(): Promise<HeldHead> {
    const { engine } = this.#host;
    while (!engine.isReady || !this.headPin.isWhole)
      await this.shared.queueWork(() => this.headPin.ensure());
    return this.#holdCovered();
  }

  /** As `holdHead`, for reads: the view may be of the reader. */
  async holdToRead(): Promise<HeldHead> {
    while (!this.#head.host.engine.isReady || !this.headPin.isWhole)
      await this.shared.queueRead(() => this.headPin.ensure());
    return this.#holdCovered();
  }

  /** As `holdHead`, for a caller that runs exclusively. */
  async holdNow(): Promise<HeldHead> {
    await this.headPin.ensure();
    return this.#holdCovered();
  }

  async #holdCovered(): Promise<HeldHead> {
    // The view was closed, and another view may have its number by now.
    if (!this.#stands) throw new HedgerowError('closed', 'the handle was closed');
    const head = this.#head;
    const used = this.useView(head);
    const held = await this.shared.hold(head.commitBytes);
    const release = () => {
      held.release();
      used.release();
    };
    return { head, release };
  }

  /** Keeps a view open, such as the view of the head. */
  useView({ host, view }: Pick<Head, 'host' | 'view'>): Hold {
    this.#uses.set(view, (this.#uses.get(view) ?? 0) + 1);
    const release = () => {
      const uses = (this.#uses.get(view) ?? 1) - 1;
      if (uses > 0) this.#uses.set(view, uses);
      else this.#endView(host, view);
    };
    return { release };
  }

  /** Closes a view after its last hold has ended, unless the head uses it. */
  #endView(host: Host, view: number): void {
    this.#uses.delete(view);
    if (view !== this.#head.view || !this.#stands) host.engine.closeView(view);
  }

  /** Moves to the commit of another tab, once this tab makes no commit. Watches and the next write report a failure. */
  follow(generation = Number.POSITIVE_INFINITY): void {
    // A branch that was deleted and created again begins at a random generation.
    const isMain = this.#ref === REF;
    if (isMain ? generation <= this.#head.generation : generation === this.#head.generation) return;
    this.#news = Math.max(this.#news, generation);
    this.#following ??= this.shared
      .queueRead(async () => {
        const news = this.#news;
        // A message that arrives from now on needs another refresh.
        this.#following = undefined;
        this.#news = 0;
        // A change that ran before this one may have refreshed.
        if (!isMain || news > this.#head.generation) await this.refresh();
      })
      .catch(() => {
        this.#following = undefined;
        this.isBehind = !this.#isGone;
        this.#tellMoved();
      });
  }

  /** Moves to a stored commit. */
  async moveTo(commitBytes: Uint8Array, generation: number): Promise<void> {
    const { host, view, rows } = await this.shared.openView(commitBytes, this.shared.opening);
    // `leave` ran during the opening, and closed the view of the old head.
    if (!this.#stands) return host.engine.closeView(view);
    const before = this.#head;
    this.#head = { commitBytes, generation, host, view, rows };
    if (before.view !== view && !this.#uses.has(before.view)) {
      this.#endView(before.host, before.view);
    }
    if (!sameBytes(before.commitBytes, commitBytes)) this.headPin.drop();
    this.headPin.noteHeadMove();
    this.#tellMoved();
  }

  #tellMoved(): void {
    for (const listener of [...this.#onMoved]) listener();
  }

  /** Moves to a commit that was made here, even if the core traps on the way. */
  async moveOnto(commitBytes: Uint8Array, generation: number): Promise<void> {
    const { engine } = this.#host;
    engine.noteSuccess();
    try {
      await this.moveTo(commitBytes, generation);
      for (const other of this.shared.branchHeads) {
        if (other !== this && other.ref === this.#ref)
          await other.moveAlong(this.#head).catch(() => other.follow());
      }
    } catch (cause) {
      if (engine.isReady) throw cause;
      this.#head = { ...this.#head, commitBytes, generation };
      // If this fails, the next call tries again and reports the cause.
      await this.shared.rebuild().catch(() => {});
    }
  }

  /** Moves to the commit to which another handle of this tab has moved the ref. */
  async moveAlong({ commitBytes, generation }: CommitAt): Promise<void> {
    await this.moveTo(commitBytes, generation);
    this.#ownGeneration = generation;
  }

  /**
   * Runs `change`, which makes a commit, after all earlier changes and never while another change runs. Rejects without
   * running it if the signal was already aborted.
   */
  exclusively<T>(change: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const begin = async (isAlone: boolean) => {
      if (isAlone) await this.#catchUp();
      checkSignal(signal);
      return change();
    };
    const enter = () => this.shared.queueWork(() => this.shared.writerQueue.hold(begin));
    return this.shared.waitForSpace(false)?.then(enter) ?? enter();
  }

  /** True if the head, with all commits before it, is known to be flushed to disk. */
  get isHeadDurable(): boolean {
    return this.#head.generation <= this.#durableGeneration;
  }

  /** Reports whether a commit is the head, as far as this handle knows, and would change no row. */
  isHead(commitBytes: Uint8Array): boolean {
    return sameBytes(this.#head.commitBytes, commitBytes);
  }

  /**
   * Writes `segments` and moves the ref to `commitBytes` if it still has the generation of the head; the caller then
   * calls `moveTo`. Returns `false` when another writer was first, or another ref of the transaction has moved. If the
   * outcome of the move is unknown, calls `onUnknown` and rejects.
   */
  move(
    commitBytes: Uint8Array,
    segments: readonly SegmentRecord[],
    { partner, also = [], ...options }: MoveOptions,
    onUnknown?: () => void,
  ): Promise<boolean> {
    const write: JointWrite = (more, others, onOtherUnknown) => {
      const joint = { ...options, also: [...also, ...others] };
      return this.#write(commitBytes, [...segments, ...more], joint, () => {
        onUnknown?.();
        onOtherUnknown?.();
      });
    };
    return partner === undefined ? write([], []) : partner(write, commitBytes);
  }

  async #write(
    commitBytes: Uint8Array,
    segments: readonly SegmentRecord[],
    { carrier, also = [], ...options }: MoveOptions,
    onUnknown: (() => void) | undefined,
  ): Promise<boolean> {
    this.checkThere();
    const [expected, generation] = [this.#head.generation, this.#head.generation + 1];
    const move = { name: this.#ref, commitBytes, generation, format: FORMAT, expected };
    const batch = { segments, move, ...(also.length > 0 && { also }), ...options };
    const written = carrier
      ? await carrier(segments, [move, ...also], onUnknown)
      : await (await partOnce(importRefWrites)).writeRefs(this.#host.segments, batch, onUnknown);
    if (written === false) return false;
    if (written === true && carrier === undefined && options.durability === 'strict') {
      this.#durableGeneration = generation;
    }
    for (const { id } of segments) this.inventory.markStored(id);
    this.inventory.noteMoves([move]);
    this.#ownGeneration = generation;
    this.shared.announce(this.#ref, generation);
    return true;
  }

  /** Moves to the newest commit while this tab is first in the queue of writers. */
  async #catchUp(): Promise<void> {
    // If storage cannot be read, the next change reports it.
    await this.refresh().catch(() => {});
    if (this.#head.generation !== this.#ownGeneration) this.shared.writerQueue.note();
  }
}
