/**
 * Where a store stands, and how it moves on: one commit at a time, each by compare-and-set
 * on the ref in the transaction that carries the commit's last segments.
 */
import { Status } from './engine.js';
import { HedgerowError } from './errors.js';
import type { Host } from './host.js';
import { Lane } from './lane.js';
import { FORMAT, MAX_COMMIT_TRIES, MAX_COMMIT_WAIT_MS, SEGMENTS_PER_WRITER } from './limits.js';
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
const REF = 'main';
const EMPTY_COMMIT = new Uint8Array(32);

/** See the module's text. */
export class Commits {
  readonly #host: Host;
  readonly #onCommit: (generation: number) => void;
  readonly #lane: Lane;
  readonly #known = new Set<number>();
  #head: Head = { commitBytes: EMPTY_COMMIT, generation: 0, view: 0, rows: 0 };
  #opened = false;
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

  /** `onCommit` is called with the generation of each commit made here. */
  constructor(
    host: Host,
    onCommit: (generation: number) => void = () => {},
    lane: Lane = new Lane(),
  ) {
    this.#host = host;
    this.#onCommit = onCommit;
    this.#lane = lane;
  }

  /** Whether other tabs are writing, too. */
  get isContended(): boolean {
    return this.#lane.isBusy;
  }

  /** The commit that reads see. */
  get head(): Head {
    return this.#head;
  }

  /** Moves to the commit that storage holds; true when that is another one. */
  async refresh(): Promise<boolean> {
    const { engine, segments } = this.#host;
    // Not all moves so far: else each commit would cost more than the one before.
    const since = this.#opened ? { name: REF, generation: this.#head.generation } : undefined;
    let { refs, tables } = await segments.load(this.#known, since);
    if (since !== undefined && refs.length === 0) {
      ({ refs, tables } = await segments.load(this.#known));
    }
    const ref = refs.find(({ name }) => name === REF);
    if (ref !== undefined && ref.format > FORMAT) {
      throw new HedgerowError('unsupported-format', `the store has format ${ref.format}`);
    }
    engine.reserve(tables.reduce((sum, { tableBytes }) => sum + tableBytes.length, 0));
    for (const { id, tableBytes, segmentBytes } of tables) {
      this.#known.add(id);
      // A damaged table hides its chunks, which are then missing; the rest stays readable.
      const isKnown = engine.addTable(id, tableBytes);
      if (isKnown && segmentBytes !== undefined) engine.loadSegment(id, segmentBytes);
    }
    const generation = ref?.generation ?? 0;
    if (this.#opened && generation === this.#head.generation) return false;
    this.#opened = true;
    await this.moveTo(ref?.commitBytes ?? EMPTY_COMMIT, generation);
    return true;
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
    }).catch(() => {});
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
    return { view: engine.word(0), rows: engine.word(1) };
  }

  /** Moves on to a commit that storage holds. */
  async moveTo(commitBytes: Uint8Array, generation: number): Promise<void> {
    const { view, rows } = await this.openView(commitBytes);
    const before = this.#head;
    this.#head = { commitBytes, generation, view, rows };
    if (before.view !== view) this.#host.engine.closeView(before.view);
  }

  /** Runs `work` when all before it has ended, and nothing else at the same time. */
  queued<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work);
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

  /** Notes that a segment was made here. */
  made(id: number): void {
    this.#known.add(id);
    this.#lastId = id;
  }

  /** Forgets a segment that was made here and will not be committed. */
  unmade(id: number): void {
    this.#known.delete(id);
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
    } catch (cause) {
      if (!(await this.#hasMoved(move, segments, cause))) throw cause;
    }
    for (const { id } of segments) this.#host.engine.storedSegment(id);
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
    const known = new Set(this.#known);
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
