import { sameBytes } from '../../base/bytes.js';
import { HedgerowError, isMissing } from '../../base/errors.js';
import { FORMAT } from '../../base/limits.js';
import { checkSignal } from '../../base/signal.js';
import { soon, untilWon } from '../../base/timeout.js';
import type { Host } from '../../core/engine-host.js';
import type { Ref, SegmentRecord, WriteBatch } from '../../storage/segment-store.js';
import type { Hold, Pins } from '../../storage/tabs/pins.js';
import { Bulks, type Overrides } from './bulks.js';
import type { Head, HeldHead } from './head.js';
import { HeadPin } from './head-pin.js';
import { BRANCH_REF, EMPTY_COMMIT, type Inventory, REF } from './inventory.js';
import { unknownLeftovers } from './leftovers.js';
import { writeRefs } from './ref-write.js';
import type { CommitAt, SharedStore, StoreBranch } from './shared-store.js';

export type { Head, HeldHead, Overrides };

/** Less than any number of a view. */
const NO_VIEW = -1;

/**
 * The head of one branch: which commit it points to, and how new commits are published. One is published at a time, by
 * compare-and-set on the ref in the transaction that carries the commit's last segments. What the branches of an open
 * store share is in `shared-store.ts`.
 */
export class BranchHead implements StoreBranch {
  readonly shared: SharedStore;
  readonly #host: Host;
  #ref: string;
  readonly #onMoved = new Set<() => void>();
  #head: Head = { commitBytes: EMPTY_COMMIT, generation: 0, view: NO_VIEW, rows: 0 };
  #opened = false;
  #isGone = false;
  /** Keeps the head whole while it is held. */
  readonly headPin: HeadPin;
  /** Number of holds of each view. */
  readonly #uses = new Map<number, number>();
  #durableGeneration = 0;
  /** The generation of the last commit made here. */
  #ownGeneration = 0;
  #following: Promise<void> | undefined;
  /** Another tab has moved the ref, and its commit could not be read. */
  isBehind = false;
  leftovers = unknownLeftovers();
  /** Its rows are none of the app's: they get no sum trees. */
  isBare = false;
  /** The newest generation that another tab has announced. */
  #news = 0;
  /** Bulk changes of this branch that are in progress. */
  readonly bulks = new Bulks();

  /** The head of the branch with this ref. Call `refresh` before anything else. */
  constructor(shared: SharedStore, ref: string = REF) {
    this.shared = shared;
    this.#host = shared.host;
    this.#ref = ref;
    this.headPin = new HeadPin(this);
    shared.branchHeads.add(this);
  }

  get pins(): Pins {
    return this.shared.pins;
  }

  get inventory(): Inventory {
    return this.shared.inventory;
  }

  /** The ref of its branch. */
  get ref(): string {
    return this.#ref;
  }

  /** The name of its branch. */
  get branchName(): string {
    return this.#ref === REF ? REF : this.#ref.slice(BRANCH_REF.length);
  }

  /** Its branch was deleted. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Throws `branch-not-found` when its branch was deleted. */
  checkThere(): void {
    if (!this.#isGone) return;
    throw new HedgerowError('branch-not-found', `there is no branch ${this.branchName}`);
  }

  /** Whether other tabs have written recently: see `WriterQueue.isBusy`. */
  get isContended(): boolean {
    return this.shared.writerQueue.isBusy;
  }

  /** The commit that reads see. */
  get head(): Head {
    return this.#head;
  }

  /**
   * Calls `listener` after each move of the head, in this tab or another, and when the branch was found deleted.
   * Returns a function that ends that. `listener` must not throw.
   */
  onMoved(listener: () => void): () => void {
    // A new function for each call: the same listener may be added twice.
    const own = () => listener();
    this.#onMoved.add(own);
    return () => {
      this.#onMoved.delete(own);
    };
  }

  /** Moves to the newest commit in storage; true if it is another one. `tells` listeners when the branch is deleted. */
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
      // The commit is not pinned yet. If the ref has moved on, a collection may have deleted it: try again.
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

  /** Moves to where a ref points that is known to exist, at a commit that is held. */
  async stand({ commitBytes, generation }: Ref): Promise<void> {
    this.#opened = true;
    this.#isGone = false;
    this.leftovers = unknownLeftovers();
    await this.moveTo(commitBytes, generation);
  }

  /**
   * Switches to another ref. Run it exclusively, when no change is in progress that began on
   * the ref before.
   */
  async switchTo(ref: string): Promise<void> {
    const before = this.#ref;
    const wasGone = this.#isGone;
    this.#ref = ref;
    this.#opened = false;
    try {
      await this.refresh(false);
      this.leftovers = unknownLeftovers();
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
    if (!this.#uses.has(this.#head.view)) this.#host.engine.closeView(this.#head.view);
  }

  /**
   * Holds the commit that reads see: no collection deletes anything of it until it is released. In a
   * tab that is not the collector it may first have to wait for commits of this tab, and move to the
   * newest commit.
   */
  async holdHead(): Promise<HeldHead> {
    const { engine } = this.#host;
    while (!engine.isReady || !this.headPin.isWhole)
      await this.shared.queueWork(() => this.headPin.ensure());
    return this.#holdCovered();
  }

  /** As `holdHead`, for a caller that runs exclusively. */
  async holdNow(): Promise<HeldHead> {
    await this.headPin.ensure();
    return this.#holdCovered();
  }

  async #holdCovered(): Promise<HeldHead> {
    // Its view was closed, and the number may be in use again by now.
    if (!this.#stands) throw new HedgerowError('closed', 'the handle was closed');
    const head = this.#head;
    const used = this.useView(head.view);
    const held = await this.shared.hold(head.commitBytes);
    const release = () => {
      held.release();
      used.release();
    };
    return { head, release };
  }

  /** Keeps an open view, such as that of the head. */
  useView(view: number): Hold {
    this.#uses.set(view, (this.#uses.get(view) ?? 0) + 1);
    const release = () => {
      const uses = (this.#uses.get(view) ?? 1) - 1;
      if (uses > 0) this.#uses.set(view, uses);
      else this.#endView(view);
    };
    return { release };
  }

  /** The last hold of a view has ended: closes it, unless it is that of the head. */
  #endView(view: number): void {
    this.#uses.delete(view);
    if (view !== this.#head.view || !this.#stands) this.#host.engine.closeView(view);
  }

  /**
   * Moves to what another tab has committed, once this tab makes no commit. Watches and the next write
   * report a failure.
   */
  follow(generation = Number.POSITIVE_INFINITY): void {
    // A branch that was deleted and created again begins at a random generation.
    const isMain = this.#ref === REF;
    if (isMain ? generation <= this.#head.generation : generation === this.#head.generation) return;
    this.#news = Math.max(this.#news, generation);
    this.#following ??= this.shared
      .queueWork(async () => {
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

  /** Moves to a commit that is stored. */
  async moveTo(commitBytes: Uint8Array, generation: number): Promise<void> {
    const { view, rows } = await this.shared.openView(commitBytes);
    // `leave` was called meanwhile, and closed the view before.
    if (!this.#stands) return this.#host.engine.closeView(view);
    const before = this.#head;
    this.#head = { commitBytes, generation, view, rows };
    if (before.view !== view && !this.#uses.has(before.view)) this.#endView(before.view);
    if (!sameBytes(before.commitBytes, commitBytes)) this.headPin.drop();
    this.headPin.noteHeadMove();
    this.#tellMoved();
  }

  #tellMoved(): void {
    for (const listener of [...this.#onMoved]) listener();
  }

  /** Moves to a commit that was made here, even if the core traps meanwhile. */
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
      // If this fails, the next call tries again and reports why.
      await this.shared.rebuild().catch(() => {});
    }
  }

  /** Moves to where another handle of this tab has moved the ref. */
  async moveAlong({ commitBytes, generation }: CommitAt): Promise<void> {
    await this.moveTo(commitBytes, generation);
    this.#ownGeneration = generation;
  }

  /**
   * Runs `change`, which makes a commit, after all changes before it, and none at the same time.
   * Rejects without running it if the signal was aborted before.
   */
  exclusively<T>(change: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const begin = async (isAlone: boolean) => {
      if (isAlone) await this.#catchUp();
      checkSignal(signal);
      return change();
    };
    const enter = () => this.shared.queueWork(() => this.shared.writerQueue.hold(begin));
    return this.shared.room(false)?.then(enter) ?? enter();
  }

  /** Whether the head, with all commits before it, is known to be flushed to disk. */
  get isHeadDurable(): boolean {
    return this.#head.generation <= this.#durableGeneration;
  }

  /** Whether a commit is the head, as far as this handle knows, and would change nothing. */
  isHead(commitBytes: Uint8Array): boolean {
    return sameBytes(this.#head.commitBytes, commitBytes);
  }

  /**
   * Writes `segments` and moves the ref to `commitBytes` if it still has the generation of the head; the caller then
   * calls `moveTo`. `false` when another writer was first, or a ref of `also` has moved. Calls `onUnknown` before it
   * rejects when it is unknown whether the ref was moved.
   */
  async move(
    commitBytes: Uint8Array,
    segments: readonly SegmentRecord[],
    options: Pick<WriteBatch, 'durability' | 'also' | 'makesRoom'>,
    onUnknown?: () => void,
  ): Promise<boolean> {
    this.checkThere();
    const { generation: expected } = this.#head;
    const move = {
      name: this.#ref,
      commitBytes,
      generation: expected + 1,
      format: FORMAT,
      expected,
    };
    const batch = { segments, move, ...options };
    const written = await writeRefs(this.#host.segments, batch, onUnknown);
    if (written === false) return false;
    if (written === true && options.durability === 'strict') {
      this.#durableGeneration = move.generation;
    }
    for (const { id } of segments) this.inventory.markStored(id);
    this.inventory.noteMoves([move]);
    this.#ownGeneration = move.generation;
    this.shared.announce(this.#ref, move.generation);
    return true;
  }

  /** Moves to the newest commit while this tab is at the head of the queue of writers. */
  async #catchUp(): Promise<void> {
    // If storage cannot be read, the change that follows reports it.
    await this.refresh().catch(() => {});
    if (this.#head.generation !== this.#ownGeneration) this.shared.writerQueue.note();
  }

  /** Repeats `attempt`, which makes a commit, until it wins its race: it returns `undefined` when it lost. */
  async retry<T>(attempt: () => Promise<T | undefined>): Promise<T> {
    const result = await attempt();
    if (result !== undefined) return result;
    this.shared.writerQueue.noteRace();
    return this.shared.writerQueue.hold(async (isAlone) => {
      // Without the queue, a random pause gives the loser a chance.
      if (!isAlone) await soon(Math.random());
      const again = async () => {
        await this.refresh();
        const result = await attempt();
        if (result === undefined) this.shared.writerQueue.noteRace();
        return result;
      };
      return untilWon(again, undefined, 1);
    });
  }
}
