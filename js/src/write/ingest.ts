/** Feeds rows to the core in slices, writes the segments that it makes, and commits. */

import * as Status from '../base/abi/status.js';
import { HedgerowError } from '../base/errors.js';
import { WRITE_BYTES } from '../base/limits.js';
import type { EncodedRange } from '../base/range.js';
import { turn } from '../base/scheduler.js';
import { checkSignal, committing } from '../base/signal.js';
import * as calls from '../core/calls/ingest.js';
import type { MadeSegment } from '../core/calls/segments.js';
import type { Op } from '../core/engine.js';
import { endSlice, type Host, type SliceTimes } from '../core/host.js';
import { fail } from '../core/status.js';
import type { BranchHead, HeldHead, Overrides } from '../history/branch-head.js';
import type { Durability, WriteBatch } from '../storage/segment-store.js';
import type { Hold } from '../tabs/pins.js';
import type { Block } from './block.js';
import type { IngestResult, Progress } from './ingest-result.js';
import { type PipedChange, SegmentPipe, timed } from './segment-pipe.js';

export type { Block, IngestResult, Progress };

/** Segments of a change that builds on stored rows are held back up to this many bytes. */
const HELD_BYTES = 4 * WRITE_BYTES;

/** So many bytes of segments at most go into the transaction that moves the ref. */
const LAST_BYTES = WRITE_BYTES / 2;

/** The commit that an ingest has made. */
export interface Committed {
  readonly commitBytes: Uint8Array;
  /** Chunks made for it. */
  readonly chunks: number;
  /** Rows of the commit before. */
  readonly rowsBefore: number;
}

/** What an ingest is fed, and how. */
export interface IngestOptions {
  readonly prefix?: string | undefined;
  /** Where the key of a row is. */
  readonly pointer?: string | undefined;
  /** Rows come as bytes: in this format, or in one to be found out. */
  readonly bytes?: {
    readonly format: 'ndjson' | 'json' | undefined;
    /** They are operations of a patch. */
    readonly isPatch?: boolean;
  };
  readonly signal?: AbortSignal | undefined;
  /** Of a bulk change: see `Bulks.begin`. */
  readonly bulk?: { readonly overrides: Overrides; readonly before: Promise<void> };
  /** Other refs that are moved with the commit. */
  readonly also?: WriteBatch['also'];
  /** It only deletes: see `WriteBatch.makesRoom`. */
  readonly makesRoom?: boolean | undefined;
}

/** So few bytes are handed to storage in the slice that made them. */
const QUICK_BYTES = 32 << 10;

/** One change on its way to a commit. */
export class Ingest implements PipedChange {
  readonly times: SliceTimes = { slices: 0, longestSliceMs: 0, storageMs: 0 };
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #durability: Durability;
  readonly #pipe: SegmentPipe;
  /** In the core. */
  readonly op: Op;
  readonly #signal: AbortSignal | undefined;
  readonly #isBytes: boolean;
  readonly #bulk: IngestOptions['bulk'];
  readonly #also: IngestOptions['also'];
  readonly #makesRoom: boolean;
  /** What it builds on and what it has written, which nobody may collect. */
  readonly #holds: Hold[] = [];
  #finished = false;
  #ended = false;
  /** Whether sum trees that follow rows and are not wanted may be left over in what it builds on. */
  #dropsSums: boolean;
  /** The generation that the change builds on. */
  #onto: number;
  readonly #holdBytes: number;
  rows = 0;
  bytes = 0;
  durableRows = 0;

  /** A change that may take its time, and is brought onto what others commit meanwhile. */
  static async begin(
    host: Host,
    branchHead: BranchHead,
    durability: Durability,
    options: IngestOptions,
  ): Promise<Ingest> {
    await branchHead.shared.prepareIds(options.makesRoom);
    const held = await branchHead.holdHead();
    try {
      return new Ingest(host, branchHead, durability, options, held);
    } catch (cause) {
      held.release();
      throw cause;
    }
  }

  /**
   * A change that is made while no commit is, or else with `held`. Call `shared.prepareIds`
   * first.
   */
  constructor(
    host: Host,
    branchHead: BranchHead,
    durability: Durability,
    { prefix = '', pointer, bytes, signal, bulk, also, makesRoom = false }: IngestOptions,
    held?: HeldHead,
  ) {
    this.#makesRoom = makesRoom;
    this.#pipe = new SegmentPipe(this, host, branchHead, { durability, makesRoom });
    if (held !== undefined) this.#holds.push(held);
    this.#host = host;
    this.#branchHead = branchHead;
    this.#durability = durability;
    this.#signal = signal;
    this.#isBytes = bytes !== undefined;
    this.#bulk = bulk;
    this.#also = also;
    this.#holdBytes = branchHead.head.rows === 0 ? WRITE_BYTES : HELD_BYTES;
    const { view, generation } = held?.head ?? branchHead.head;
    this.#onto = generation;
    this.op =
      bytes === undefined
        ? calls.ingest(host.engine, view, prefix, pointer ?? '')
        : calls.ingestBytes(host.engine, view, { prefix, pointer, ...bytes });
    this.#dropsSums = branchHead.leftovers.sums;
    // Where one is missing it is made.
    if (host.sums !== undefined && host.sums.size > 0) calls.expectSums(host.engine, this.op);
  }

  /** How many segments it has made. */
  get segments(): number {
    return this.#pipe.made;
  }

  /** A bulk change waits for room until its rows end: then others wait for its commit. */
  get waitsForRoom(): boolean {
    return this.#bulk !== undefined && !this.#finished;
  }

  /** Keeps a hold until it has ended. */
  keep(hold: Hold): void {
    this.#holds.push(hold);
  }

  /** Has `listener` called when the core traps, and the ingest is lost with it. */
  onLost(listener: (cause: unknown) => void): () => void {
    return this.#host.engine.onTrap(listener);
  }

  /** Feeds a block, as part of the slice that began at `startMs`. */
  async feed(block: Block, startMs: number): Promise<void> {
    const { engine } = this.#host;
    this.bytes += calls.feed(engine, this.op, block);
    this.rows += block.rows;
    await this.#work(startMs);
    if (this.#pipe.heldBytes >= this.#holdBytes) await this.#pipe.flush(0);
  }

  /** Takes bytes, to be read by the next `drain`. Copies them. */
  append(bytes: Uint8Array): void {
    calls.append(this.#host.engine, this.op, bytes);
    this.bytes += bytes.length;
  }

  /** There are no more bytes. */
  end(): void {
    calls.end(this.#host.engine, this.op);
  }

  /** Reads all complete rows of the bytes so far, from the slice that began at `startMs` on. */
  async drain(startMs: number): Promise<void> {
    await this.#work(startMs);
    if (this.#pipe.heldBytes >= this.#holdBytes) await this.#pipe.flush(0);
  }

  /** Makes a part of the indexes that are wanted, of about `work` bytes of rows. */
  extendIndexes(alone: boolean, work: number): void {
    calls.extendIndexes(this.#host.engine, this.op, alone, work);
  }

  /** Deletes all rows of a range. */
  async drop(range: EncodedRange): Promise<void> {
    calls.drop(this.#host.engine, this.op, range);
    await this.#work(performance.now());
  }

  /** Steps until the core is done with what it was given. */
  async #work(startMs: number, run?: (budget: number) => number): Promise<void> {
    let start = startMs;
    for (;;) {
      this.check();
      const status = this.#host.step(this.op, start, run);
      if (status >= Status.row) fail(this.#host.engine, status, this.#isBytes);
      // Before anything else asks the core: the ids are in its last reply.
      const needed = status === Status.need ? this.#host.engine.needed() : [];
      if (this.#isBytes && run === undefined && status !== Status.need)
        this.rows = calls.ingestedRows(this.#host.engine);
      this.#pipe.take(this.op);
      endSlice(this.times, start);
      if (status === Status.done) return;
      if (needed.length > 0) await timed(this.times, this.#host.load(needed));
      if (this.#pipe.heldBytes >= this.#holdBytes) await this.#pipe.flush(0);
      await turn();
      start = performance.now();
    }
  }

  /** Throws why it does not go on, if it does not. */
  check(): void {
    this.#pipe.check();
    checkSignal(this.#signal);
  }

  /**
   * Makes the commit, when no other commit is being made. It is atomic and the last word: of
   * what other writers have committed since this change began, all stays that it did not touch.
   */
  async commit(): Promise<Committed> {
    await this.#finish();
    await this.#pipe.flush(LAST_BYTES);
    await this.#pipe.settle(0);
    if (this.#bulk !== undefined) await this.#bulk.before;
    return this.#branchHead.exclusively(() => this.commitNow(), this.#signal);
  }

  /** As `commit`, for a caller that makes sure that no other commit is being made. */
  async commitNow(): Promise<Committed> {
    await this.#finish();
    return this.#branchHead.retry(() => this.#attempt());
  }

  /**
   * As `commitNow`, once: `undefined` when another writer was first. Without a hold on what it
   * builds on, the change must then be made again from the start.
   */
  async commitOnce(): Promise<Committed | undefined> {
    await this.#finish();
    return this.#attempt();
  }

  async #finish(): Promise<void> {
    if (this.#finished) return;
    this.#finished = true;
    // Gathering is done, merging begins.
    if (this.#bulk !== undefined) this.#host.doubt();
    calls.finish(this.#host.engine, this.op);
    await this.#work(performance.now());
    await this.#bringSums();
  }

  async #bringSums(): Promise<void> {
    if (!calls.awaitsSums(this.#host.engine, this.op)) return;
    const alone = this.#dropsSums && this.#host.sums !== undefined;
    const bring = await this.#host.bringSums(this.op, alone);
    await this.#work(performance.now(), bring);
  }

  /**
   * Brings in, beside what it was fed, what was changed between the commits of two views, but for
   * keys that it was fed. It is then committed by `commitOnce`.
   */
  async bringIn(from: number, to: number): Promise<void> {
    await this.#finish();
    const { engine } = this.#host;
    calls.since(engine, this.op, from);
    calls.rebase(engine, this.op, to, []);
    await this.#work(performance.now());
  }

  /** `undefined` when another writer was first. */
  async #attempt(): Promise<Committed | undefined> {
    const { engine } = this.#host;
    let { head } = this.#branchHead;
    const overrides = this.#bulk?.overrides ?? new Set();
    if (head.generation !== this.#onto || overrides.size > 0) {
      // What it will be made of is of that commit, even if yet another one comes first.
      const held = await this.#branchHead.holdNow();
      this.#holds.push(held);
      ({ head } = held);
      this.#onto = head.generation;
      this.#dropsSums = this.#branchHead.leftovers.sums;
      calls.rebase(engine, this.op, head.view, overrides);
      await this.#work(performance.now());
    }
    await this.#bringSums();
    // The reply of the last step is gone by now: ask once more.
    engine.step(this.op, 1);
    const { chunks, commitBytes } = calls.ingested(engine);
    await this.#pipe.flush(LAST_BYTES);
    await this.#pipe.settle(0);
    checkSignal(this.#signal);
    if (this.#branchHead.isHead(commitBytes)) {
      // Nothing to write, if nobody else has moved the store.
      if (await this.#branchHead.refresh()) return undefined;
      // Yet what is there already may not be durable: then a flush has to carry something.
      const isSafe = this.#durability === 'relaxed' || this.#branchHead.isHeadDurable;
      if (!isSafe && !(await this.#move(commitBytes, []))) return undefined;
      if (!isSafe) await this.#branchHead.moveOnto(commitBytes, head.generation + 1);
      await this.abandon();
      this.durableRows = this.rows;
      return { chunks: 0, commitBytes, rowsBefore: head.rows };
    }
    // Copying much into storage is a slice of its own; a small commit does not wait for one.
    if (this.#pipe.heldBytes > QUICK_BYTES) await turn();
    const moving = this.#move(commitBytes, this.#pipe.held);
    if (!(await timed(this.times, moving))) return undefined;
    this.#stay();
    this.durableRows = this.rows;
    await this.#branchHead.moveOnto(commitBytes, head.generation + 1);
    if (this.#dropsSums) this.#branchHead.leftovers.sums = false;
    return { chunks, commitBytes, rowsBefore: head.rows };
  }

  async #move(commitBytes: Uint8Array, segments: readonly MadeSegment[]): Promise<boolean> {
    // What is stored and announced by nobody may have been collected.
    if (this.#holds.some(({ isSeen }) => isSeen === false)) {
      throw new HedgerowError('disconnected', 'the browser has suspended the page: try again');
    }
    const undo = committing(this.#signal);
    let isKept = false;
    try {
      const [also, makesRoom] = [this.#also, this.#makesRoom];
      const options = { durability: this.#durability, makesRoom, ...(also && { also }) };
      isKept = await this.#branchHead.move(commitBytes, segments, options, () => {
        isKept = true;
        // The ref may point at what was written: rather debris than a hole.
        this.#stay();
      });
      return isKept;
    } finally {
      if (!isKept) undo();
    }
  }

  /** What it has written stays. */
  #stay(): void {
    this.#free(true);
    this.#release();
  }

  #free(committed: boolean): void {
    this.#ended = true;
    this.#pipe.end();
    this.#host.forgetSums?.(this.op);
    this.#host.engine.free(this.op, committed);
  }

  #release(): void {
    for (const hold of this.#holds.splice(0)) hold.release();
  }

  /** Drops the change and deletes what was written of it. Idempotent. */
  async abandon(): Promise<void> {
    if (this.#ended) return;
    this.#free(false);
    await this.#pipe.discard();
    this.#release();
  }
}

/** Runs `change` and drops the ingest if it throws. */
export async function guarded<T>(ingest: Ingest, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (cause) {
    await ingest.abandon();
    throw cause;
  }
}
