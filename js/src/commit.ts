/**
 * Where a store stands, and how it moves on: one commit at a time, each by compare-and-set
 * on the ref in the transaction that carries the commit's last segments.
 */
import { Status } from './engine.js';
import { HedgerowError } from './errors.js';
import type { Host } from './host.js';
import { Inventory, REF } from './inventory.js';
import { Lane } from './lane.js';
import { FORMAT, MAX_COMMIT_TRIES, MAX_COMMIT_WAIT_MS, SEGMENTS_PER_WRITER } from './limits.js';
import type { Hold, Pins } from './pins.js';
import type { Durability, RefMove, SegmentRecord } from './segment-store.js';
import { abortion, checkSignal } from './signal.js';

/** The commit that a store stands at. */
export interface Head {
  readonly commitBytes: Uint8Array;
  readonly generation: number;
  /** The core's view of it. */
  readonly view: number;
  /** Number of rows. */
  readonly rows: number;
}

/** A head that stays whole, and is read, until it is released. */
export interface HeldHead extends Hold {
  readonly head: Head;
}

/** A commit of which nobody can tell whether it was made. */
export class UnknownOutcome extends Error {
  constructor(cause: unknown) {
    super('the outcome of a commit is unknown', { cause });
  }
}

/**
 * A bulk change under way. Keys, as JSON texts, that were edited after it was called for: those
 * edits are the last word, though they are committed before it.
 */
export type Overrides = Set<string>;

/** Whether two hashes are the same. */
export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.every((byte, at) => byte === b[at]);
}

const NONE: readonly Overrides[] = [];
const EMPTY_COMMIT = new Uint8Array(32);

/** See the module's text. */
export class Commits {
  readonly #host: Host;
  readonly pins: Pins;
  /** What is stored, as far as is known here. */
  readonly inventory: Inventory;
  readonly #onCommit: (generation: number) => void;
  readonly #onMoved = new Set<() => void>();
  readonly #lane: Lane;
  #head: Head = { commitBytes: EMPTY_COMMIT, generation: 0, view: 0, rows: 0 };
  #opened = false;
  /** How often views are held. */
  readonly #uses = new Map<number, number>();
  /** It was opened once, whatever has become of the instance since. */
  #isOpen = false;
  #durableGeneration = 0;
  /** The generation of the last commit made here. */
  #ownGeneration = 0;
  #lastId = 0;
  #endId = 0;
  #tail: Promise<unknown> = Promise.resolve();
  #following: Promise<void> | undefined;
  /** The newest generation that another tab has told of. */
  #news = 0;
  readonly #underWay = new Set<Overrides>();
  #bulkTail: Promise<void> = Promise.resolve();

  /** Called when the core has trapped for good: nothing works any more. */
  onFinalTrap: (cause: HedgerowError) => void = () => {};
  #rebuilding: Promise<void> | undefined;

  /** `onCommit` is called with the generation of each commit made here. */
  constructor(
    host: Host,
    pins: Pins,
    onCommit: (generation: number) => void = () => {},
    lane: Lane = new Lane(),
  ) {
    this.#host = host;
    this.pins = pins;
    this.inventory = new Inventory(host);
    this.#onCommit = onCommit;
    this.#lane = lane;
    host.engine.onTrap(() => {
      const { finalTrap } = host.engine;
      if (finalTrap !== undefined) this.onFinalTrap(finalTrap);
      // A store that is being opened fails instead.
      else if (this.#isOpen) this.ready().catch(() => {});
    });
    host.recover = () => this.ready();
  }

  /** Whether other tabs are writing, too. */
  get isContended(): boolean {
    return this.#lane.isBusy;
  }

  /** The commit that reads see. */
  get head(): Head {
    return this.#head;
  }

  /**
   * Has `listener` called when the head has moved, by whomever; returns how to end that. It
   * must not throw.
   */
  onMoved(listener: () => void): () => void {
    // One of its own for each call: two may share a function.
    const own = () => listener();
    this.#onMoved.add(own);
    return () => {
      this.#onMoved.delete(own);
    };
  }

  /** Moves to the commit that storage holds; true when that is another one. */
  async refresh(): Promise<boolean> {
    // Not all moves so far: else each commit would cost more than the one before.
    const since = this.#opened ? { name: REF, generation: this.#head.generation } : undefined;
    const ref = await this.inventory.loadSince(since);
    const generation = ref?.generation ?? 0;
    if (this.#opened && generation === this.#head.generation) return false;
    this.#opened = true;
    await this.moveTo(ref?.commitBytes ?? EMPTY_COMMIT, generation);
    this.#isOpen = true;
    return true;
  }

  /**
   * Holds the commit that reads see: nothing that it reaches is collected until it is released.
   * In a tab that is not the collector it may first have to move on to the newest commit, when
   * no commit is being made here.
   */
  async holdHead(): Promise<HeldHead> {
    const { engine } = this.#host;
    while (!engine.isReady || !this.pins.covers(this.#head.commitBytes)) {
      await this.queued(() => this.#coverHead());
    }
    return this.#holdCovered();
  }

  /** As `holdHead`, for a caller that makes sure that no commit is being made. */
  async holdNow(): Promise<HeldHead> {
    await this.#coverHead();
    return this.#holdCovered();
  }

  async #holdCovered(): Promise<HeldHead> {
    const head = this.#head;
    this.#uses.set(head.view, (this.#uses.get(head.view) ?? 0) + 1);
    const held = await this.hold(head.commitBytes);
    const release = () => {
      held.release();
      const uses = (this.#uses.get(head.view) ?? 1) - 1;
      if (uses > 0) this.#uses.set(head.view, uses);
      else this.#endView(head.view);
    };
    return { head, release };
  }

  /** A view is used no more, unless it is the head's. */
  #endView(view: number): void {
    this.#uses.delete(view);
    if (view !== this.#head.view) this.#host.engine.closeView(view);
  }

  /** Holds any commit from now on, whole or not. */
  async hold(commitBytes: Uint8Array): Promise<Hold> {
    const used = this.pins.use(commitBytes);
    const pinned = await this.pins.pin(commitBytes);
    const release = () => {
      used.release();
      pinned.release();
    };
    return { release };
  }

  /** Sees to it that the head may be held. */
  async #coverHead(): Promise<void> {
    if (this.pins.covers(this.#head.commitBytes)) return;
    await this.pins.pinHead(async () => {
      await this.refresh();
      return this.#head.commitBytes;
    });
  }

  /**
   * After a trap: resolves when another instance stands where storage stands. Whoever must act
   * in the turn of its call asks `engine.isReady` first.
   */
  ready(): Promise<void> {
    this.#rebuilding ??= this.queued(async () => {}).finally(() => {
      this.#rebuilding = undefined;
    });
    return this.#rebuilding;
  }

  /** Has a new instance take the place of one that trapped. Run it exclusively. */
  async #rebuild(): Promise<void> {
    const { engine } = this.#host;
    const { finalTrap: cause } = engine;
    if (cause !== undefined) throw new HedgerowError('closed', 'the core trapped twice', { cause });
    await engine.restart();
    // Ids of the instance before are never given again, though nothing may be left of it.
    if (this.#endId > 0) engine.setNextSegment(this.#lastId + 1);
    this.inventory.clear();
    this.#opened = false;
    await this.refresh();
    engine.ready();
  }

  /**
   * Moves on to what another tab has committed, when no commit is being made here. A failure
   * is left to the next read or write to tell.
   */
  follow(generation = Number.POSITIVE_INFINITY): void {
    if (generation <= this.#head.generation) return;
    this.#news = Math.max(this.#news, generation);
    this.#following ??= this.queued(async () => {
      const news = this.#news;
      // News that come from now on need another look.
      this.#following = undefined;
      this.#news = 0;
      // A writer before may have caught up.
      if (news > this.#head.generation) await this.refresh();
    }).catch(() => {
      this.#following = undefined;
    });
  }

  /** Opens a view of a commit; the caller closes it. */
  async openView(commitBytes: Uint8Array): Promise<{ view: number; rows: number }> {
    const { engine } = this.#host;
    let status = engine.openView(commitBytes);
    while (status === Status.need) {
      await this.#host.load(engine.needed());
      status = engine.openView(commitBytes);
    }
    if (status !== Status.done) engine.fail(status);
    return engine.openedView();
  }

  /** Moves on to a commit that storage holds. */
  async moveTo(commitBytes: Uint8Array, generation: number): Promise<void> {
    const { view, rows } = await this.openView(commitBytes);
    const before = this.#head;
    this.#head = { commitBytes, generation, view, rows };
    if (before.view !== view && !this.#uses.has(before.view)) this.#endView(before.view);
    if (!isSame(before.commitBytes, commitBytes)) this.pins.moved();
    for (const listener of [...this.#onMoved]) listener();
  }

  /** Moves on to a commit that was made here, which it stays whatever becomes of the instance. */
  async moveOnto(commitBytes: Uint8Array, generation: number): Promise<void> {
    const { engine } = this.#host;
    engine.succeeded();
    try {
      await this.moveTo(commitBytes, generation);
    } catch (cause) {
      if (engine.isReady) throw cause;
      this.#head = { ...this.#head, commitBytes, generation };
      // What hinders it is told to the next call.
      await this.#rebuild().catch(() => {});
    }
  }

  /** Runs `work` when all before it has ended, and nothing else at the same time. */
  queued<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(() =>
      this.#host.engine.isReady ? work() : this.#rebuild().then(work),
    );
    this.#tail = result.catch(() => {});
    return result;
  }

  /**
   * Runs `change`, which makes a commit, when all changes before it have ended, and none at the
   * same time. An abort while it waits takes effect at once.
   */
  exclusively<T>(change: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    let started = false;
    const begin = async (isAlone: boolean) => {
      if (isAlone) await this.#catchUp();
      checkSignal(signal);
      started = true;
      return change();
    };
    const result = this.queued(() => this.#lane.hold(begin));
    if (signal === undefined) return result;
    const aborted = abortion(signal);
    const waiting = aborted.promise.catch((cause: unknown) => {
      if (started) return result;
      throw cause;
    });
    return Promise.race([result, waiting]).finally(aborted.stop);
  }

  /** Runs `change` when all changes have ended, though the core may not work any more. */
  afterAll(change: () => Promise<void>): Promise<void> {
    this.#tail = this.#tail.then(change);
    return this.#tail as Promise<void>;
  }

  /** The bulk changes under way, for an edit that is called for now. */
  underWay(): readonly Overrides[] {
    return this.#underWay.size === 0 ? NONE : [...this.#underWay];
  }

  /**
   * A bulk change begins. What it has at hand is committed in the order of calls: it waits for
   * `before`. One that waits for its source waits for nobody else, and nobody for it.
   */
  beginBulk(isAtHand: boolean): { overrides: Overrides; before: Promise<void>; end(): void } {
    const overrides: Overrides = new Set();
    this.#underWay.add(overrides);
    const before = isAtHand ? this.#bulkTail : Promise.resolve();
    let release = () => {};
    if (isAtHand) {
      const ended = new Promise<void>((resolve) => {
        release = resolve;
      });
      this.#bulkTail = before.then(() => ended);
    }
    const end = () => {
      this.#underWay.delete(overrides);
      release();
    };
    return { overrides, before, end };
  }

  /** Makes sure that new segments have ids that no other writer uses. */
  async prepareIds(): Promise<void> {
    if (this.#endId - this.#lastId > SEGMENTS_PER_WRITER / 2) return;
    const writer = await this.#host.segments.reserve();
    this.#lastId = writer * SEGMENTS_PER_WRITER;
    this.#endId = this.#lastId + SEGMENTS_PER_WRITER;
    this.#host.engine.setNextSegment(this.#lastId);
  }

  /** The writer that an id belongs to. */
  writerOf(id: number): number {
    return Math.floor(id / SEGMENTS_PER_WRITER);
  }

  /** The ids of a writer: from the first to before the second. */
  idsOf(writer: number): [number, number] {
    return [writer * SEGMENTS_PER_WRITER, (writer + 1) * SEGMENTS_PER_WRITER];
  }

  /** Notes that a segment was made here. */
  made(id: number): void {
    this.inventory.made(id);
    this.#lastId = id;
  }

  /** Whether the head is known to have been flushed, with all before it. */
  get isHeadDurable(): boolean {
    return this.#head.generation <= this.#durableGeneration;
  }

  /** Whether a commit would change nothing, as far as is known here. */
  isHead(commitBytes: Uint8Array): boolean {
    return isSame(this.#head.commitBytes, commitBytes);
  }

  /**
   * Writes `segments` and moves the ref to `commitBytes` if it still stands where it stood;
   * `false` when another writer was first. The caller then calls `moveTo`. Rejects with
   * `UnknownOutcome` when nobody can tell whether the ref was moved.
   */
  async move(
    commitBytes: Uint8Array,
    segments: readonly SegmentRecord[],
    durability: Durability,
  ): Promise<boolean> {
    const { generation: expected } = this.#head;
    const move = { name: REF, commitBytes, generation: expected + 1, format: FORMAT, expected };
    try {
      if (!(await this.#host.segments.write({ segments, move, durability }))) return false;
      if (durability === 'strict') this.#durableGeneration = move.generation;
    } catch (cause) {
      if (!(await this.#hasMoved(move, segments, cause))) throw cause;
    }
    for (const { id } of segments) this.inventory.stored(id);
    this.#ownGeneration = move.generation;
    this.#onCommit(move.generation);
    return true;
  }

  /**
   * Whether a move took effect though its answer was lost. Another writer may have made the same
   * commit, or the next one: what tells are the segments that were written with the move.
   */
  async #hasMoved(
    move: RefMove,
    segments: readonly SegmentRecord[],
    cause: unknown,
  ): Promise<boolean> {
    const known = new Set(this.inventory.known);
    for (const { id } of segments) known.delete(id);
    try {
      const { refs, tables } = await this.#host.segments.load(known);
      const [first] = segments;
      if (first !== undefined) return tables.some(({ id }) => id === first.id);
      const ref = refs.find(({ name }) => name === move.name);
      return ref?.generation === move.generation && isSame(ref.commitBytes, move.commitBytes);
    } catch {
      throw new UnknownOutcome(cause);
    }
  }

  /** Moves to where other tabs have come, while none of them writes. */
  async #catchUp(): Promise<void> {
    // If storage cannot be read, the change that follows says so.
    await this.refresh().catch(() => {});
    if (this.#head.generation !== this.#ownGeneration) this.#lane.note();
  }

  /** Makes a commit by `attempt` until it wins its race; `attempt` tells whether it did. */
  async retry<T>(attempt: () => Promise<T | undefined>): Promise<T> {
    const result = await attempt();
    if (result !== undefined) return result;
    this.#lane.noteRace();
    return this.#lane.hold(async (isAlone) => {
      for (let tries = 1; tries < MAX_COMMIT_TRIES; tries++) {
        // A writer that commits again and again is quicker than one that must first read what
        // the other wrote: where there is no lane, only time lets the loser in.
        const longest = Math.min(2 ** (tries - 1), MAX_COMMIT_WAIT_MS);
        if (tries > 1 || !isAlone) await pause(longest * Math.random());
        await this.refresh();
        const result = await attempt();
        if (result !== undefined) return result;
        this.#lane.noteRace();
      }
      throw new HedgerowError('conflict', `lost the race ${MAX_COMMIT_TRIES} times`);
    });
  }
}

/** Waits for so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
