import { sameBytes } from '../base/bytes.js';
import { HedgerowError, isMissing } from '../base/errors.js';
import { FORMAT } from '../base/limits.js';
import { checkSignal } from '../base/signal.js';
import { soon, untilWon } from '../base/timeout.js';
import type { Host } from '../core/host.js';
import type { Ref, SegmentRecord, WriteBatch } from '../storage/segment-store.js';
import type { Hold, Pins } from '../tabs/pins.js';
import { Bulks, type Overrides } from './bulks.js';
import type { Head, HeldHead } from './head.js';
import { HeadPin } from './head-pin.js';
import { BRANCH_REF, EMPTY_COMMIT, type Inventory, REF } from './inventory.js';
import { unknownLeftovers } from './leftovers.js';
import { writeRefs } from './ref-write.js';
import type { CommitAt, SharedStore, StoreBranch } from './shared-store.js';

export type { Head, HeldHead, Overrides };

/** Less than any handle. */
const NO_VIEW = -1;

/**
 * The head of one branch: which commit it points to, and how new commits are published, one at a time, each by
 * compare-and-set on its ref in the transaction that carries the commit's last segments. What the branches of an open
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
  /** Has the head stay whole while it is held. */
  readonly headPin: HeadPin;
  /** How often views are held. */
  readonly #uses = new Map<number, number>();
  #durableGeneration = 0;
  /** The generation of the last commit made here. */
  #ownGeneration = 0;
  #following: Promise<void> | undefined;
  /** Another tab has moved on, and that could not be read. */
  isBehind = false;
  leftovers = unknownLeftovers();
  /** The newest generation that another tab has told of. */
  #news = 0;
  /** Bulk changes of it that are under way. */
  readonly bulks = new Bulks();

  /** Of what stands on `ref`. Call `refresh` before anything else. */
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

  /** The ref that it stands on. */
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

  /** Whether other tabs are writing, too. */
  get isContended(): boolean {
    return this.shared.writerQueue.isBusy;
  }

  /** The commit that reads see. */
  get head(): Head {
    return this.#head;
  }

  /**
   * Has `listener` called when the head has moved, by whomever, and when the branch was found deleted; returns
   * how to end that. It must not throw.
   */
  onMoved(listener: () => void): () => void {
    // One of its own for each call: two may share a function.
    const own = () => listener();
    this.#onMoved.add(own);
    return () => {
      this.#onMoved.delete(own);
    };
  }

  /** Moves to the commit that storage holds; true when that is another one. Tells when it finds no branch. */
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
      // Nothing holds it yet: where the ref has moved on, it may have been collected meanwhile.
      const now = isMissing(cause) ? (await this.inventory.look()).get(this.#ref) : found;
      if (now?.generation === found?.generation) throw cause;
      return this.refresh(tells);
    }
    this.shared.isOpen = true;
    return true;
  }

  /** As `refresh`; that its branch is gone whoever uses it will hear. */
  async keepUp(): Promise<void> {
    await this.refresh().catch((cause: unknown) => {
      if (!this.#isGone) throw cause;
    });
  }

  /** Stands where storage stands in a new instance of the core. */
  reopen(): Promise<void> {
    this.#opened = false;
    return this.keepUp();
  }

  /** Stands on a ref that is known to be there, at a commit that is held. */
  async stand({ commitBytes, generation }: Ref): Promise<void> {
    this.#opened = true;
    this.#isGone = false;
    this.leftovers = unknownLeftovers();
    await this.moveTo(commitBytes, generation);
  }

  /**
   * Stands on another ref from now on. Run it exclusively, when no change is under way that
   * began on the one before.
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

  /** Stands nowhere any more. */
  leave(): void {
    this.shared.branchHeads.delete(this);
    this.headPin.drop();
    if (!this.#uses.has(this.#head.view)) this.#host.engine.closeView(this.#head.view);
  }

  /**
   * Holds the commit that reads see: nothing that it reaches is collected until it is released.
   * In a tab that is not the collector it may first have to move on to the newest commit, when
   * no commit is being made here.
   */
  async holdHead(): Promise<HeldHead> {
    const { engine } = this.#host;
    while (!engine.isReady || !this.headPin.isWhole)
      await this.shared.queued(() => this.headPin.ensure());
    return this.#holdCovered();
  }

  /** As `holdHead`, for a caller that makes sure that no commit is being made. */
  async holdNow(): Promise<HeldHead> {
    await this.headPin.ensure();
    return this.#holdCovered();
  }

  async #holdCovered(): Promise<HeldHead> {
    // Its view is let go of, and may be another one's by now.
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

  /** Keeps a view that is open, the head's for instance. */
  useView(view: number): Hold {
    this.#uses.set(view, (this.#uses.get(view) ?? 0) + 1);
    const release = () => {
      const uses = (this.#uses.get(view) ?? 1) - 1;
      if (uses > 0) this.#uses.set(view, uses);
      else this.#endView(view);
    };
    return { release };
  }

  /** A view is used no more, unless it is the head's. */
  #endView(view: number): void {
    this.#uses.delete(view);
    if (view !== this.#head.view || !this.#stands) this.#host.engine.closeView(view);
  }

  /**
   * Moves on to what another tab has committed, when no commit is being made here. Of a failure
   * the next write tells, and those who watch.
   */
  follow(generation = Number.POSITIVE_INFINITY): void {
    // A branch that was deleted and made anew begins anywhere.
    const isMain = this.#ref === REF;
    if (isMain ? generation <= this.#head.generation : generation === this.#head.generation) return;
    this.#news = Math.max(this.#news, generation);
    this.#following ??= this.shared
      .queued(async () => {
        const news = this.#news;
        // News that come from now on need another look.
        this.#following = undefined;
        this.#news = 0;
        // A writer before may have caught up.
        if (!isMain || news > this.#head.generation) await this.refresh();
      })
      .catch(() => {
        this.#following = undefined;
        this.isBehind = !this.#isGone;
        this.#tellMoved();
      });
  }

  /** Moves on to a commit that storage holds. */
  async moveTo(commitBytes: Uint8Array, generation: number): Promise<void> {
    const { view, rows } = await this.shared.openView(commitBytes);
    // It was left meanwhile, with the view before.
    if (!this.#stands) return this.#host.engine.closeView(view);
    const before = this.#head;
    this.#head = { commitBytes, generation, view, rows };
    if (before.view !== view && !this.#uses.has(before.view)) this.#endView(before.view);
    if (!sameBytes(before.commitBytes, commitBytes)) this.headPin.drop();
    this.headPin.moved();
    this.#tellMoved();
  }

  #tellMoved(): void {
    for (const listener of [...this.#onMoved]) listener();
  }

  /** Moves on to a commit that was made here, which it stays whatever becomes of the instance. */
  async moveOnto(commitBytes: Uint8Array, generation: number): Promise<void> {
    const { engine } = this.#host;
    engine.succeeded();
    try {
      await this.moveTo(commitBytes, generation);
      for (const other of this.shared.branchHeads) {
        if (other !== this && other.ref === this.#ref)
          await other.moveAlong(this.#head).catch(() => other.follow());
      }
    } catch (cause) {
      if (engine.isReady) throw cause;
      this.#head = { ...this.#head, commitBytes, generation };
      // What hinders it is told to the next call.
      await this.shared.rebuild().catch(() => {});
    }
  }

  /** Moves to where another handle of this tab has moved the ref. */
  async moveAlong({ commitBytes, generation }: CommitAt): Promise<void> {
    await this.moveTo(commitBytes, generation);
    this.#ownGeneration = generation;
  }

  /**
   * Runs `change`, which makes a commit, when all changes before it have ended, and none at the
   * same time; not at all when the signal was aborted before.
   */
  exclusively<T>(change: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const begin = async (isAlone: boolean) => {
      if (isAlone) await this.#catchUp();
      checkSignal(signal);
      return change();
    };
    const enter = () => this.shared.queued(() => this.shared.writerQueue.hold(begin));
    return this.shared.room(false)?.then(enter) ?? enter();
  }

  /** Whether the head is known to have been flushed, with all before it. */
  get isHeadDurable(): boolean {
    return this.#head.generation <= this.#durableGeneration;
  }

  /** Whether a commit would change nothing, as far as is known here. */
  isHead(commitBytes: Uint8Array): boolean {
    return sameBytes(this.#head.commitBytes, commitBytes);
  }

  /**
   * Writes `segments` and moves the ref to `commitBytes` if it still stands where it stood;
   * `false` when another writer was first, or one of `also` stands elsewhere. The caller then calls `moveTo`. Calls
   * `onUnknown` before it rejects when nobody can tell whether the ref was moved.
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
    for (const { id } of segments) this.inventory.stored(id);
    this.inventory.moved([move]);
    this.#ownGeneration = move.generation;
    this.shared.announce(this.#ref, move.generation);
    return true;
  }

  /** Moves to where other tabs have come, while none of them writes. */
  async #catchUp(): Promise<void> {
    // If storage cannot be read, the change that follows says so.
    await this.refresh().catch(() => {});
    if (this.#head.generation !== this.#ownGeneration) this.shared.writerQueue.note();
  }

  /** Makes a commit by `attempt` until it wins its race; `attempt` tells whether it did. */
  async retry<T>(attempt: () => Promise<T | undefined>): Promise<T> {
    const result = await attempt();
    if (result !== undefined) return result;
    this.shared.writerQueue.noteRace();
    return this.shared.writerQueue.hold(async (isAlone) => {
      // Where there is no queue, only time lets the loser in.
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
