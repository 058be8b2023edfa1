/** Feeds rows to the core in slices, writes the segments that it makes, and commits. */

import * as Status from '../../base/abi/status.js';
import { checkSignal, committing } from '../../base/abort-signal.js';
import { HedgerowError } from '../../base/errors.js';
import { WRITE_BYTES } from '../../base/limits.js';
import type { EncodedRange } from '../../base/range.js';
import { turn } from '../../base/slice-queue.js';
import * as calls from '../../core/calls/ingest-calls.js';
import type { MadeSegment } from '../../core/calls/segment-calls.js';
import type { Op } from '../../core/engine.js';
import { endSlice, type Host, type SliceTimes } from '../../core/operation-host.js';
import { failWrite } from '../../core/write-errors.js';
import type { Durability } from '../../storage/segment-store.js';
import type { Hold } from '../../storage/tabs/pins.js';
import type { BranchHead, HeldHead, Overrides } from '../history/branch-head.js';
import type { JointMoves } from '../history/joint-moves.js';
import { retryCommit } from '../history/retry-commit.js';
import type { Block } from './row-block-type.js';
import { measureStorage, type PipedChange, SegmentPipe } from './segment-pipe.js';
import type { Progress, WriteResult, WriteStats } from './write-result.js';

export type { Block, Progress, WriteResult, WriteStats };

/** The bytes of segments that a change on stored rows holds at most before it writes them. */
const HELD_BYTES = 4 * WRITE_BYTES;

/** The most bytes of segments in the transaction that moves the ref. */
const LAST_BYTES = WRITE_BYTES / 2;

/** The commit of an ingest. */
export interface IngestCommit {
  readonly commitBytes: Uint8Array;
  /** The number of chunks made for the commit. */
  readonly chunks: number;
  /** Rows of the commit before. */
  readonly rowsBefore: number;
}

/** Options for the rows and the commit of an ingest. */
export interface IngestOptions {
  readonly prefix?: string | undefined;
  /** A JSON pointer to the key of a row. */
  readonly pointer?: string | undefined;
  /** Rows come as bytes. Without a format, the core detects it. */
  readonly bytes?: {
    readonly format: 'ndjson' | 'json' | undefined;
    /** The rows are operations of a patch. */
    readonly isPatch?: boolean;
  };
  readonly signal?: AbortSignal | undefined;
  /** Of a bulk change: see `Bulks.begin`. */
  readonly bulk?: { readonly overrides: Overrides; readonly before: Promise<void> };
  /** The change only deletes: see `WriteBatch.freesSpace`. */
  readonly freesSpace?: boolean | undefined;
  /** The change writes no rows for the app: it may work on a branch that has an owner. */
  readonly isUpkeep?: boolean | undefined;
}

/** The most bytes that are handed to storage in the slice that made them. */
const QUICK_BYTES = 32 << 10;

/** One change on its way to a commit. */
export class Ingest implements PipedChange {
  readonly times: SliceTimes = { slices: 0, longestSliceMs: 0, storageMs: 0 };
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #durability: Durability;
  readonly #pipe: SegmentPipe;
  /** The operation in the core. */
  readonly op: Op;
  readonly #signal: AbortSignal | undefined;
  readonly #isBytes: boolean;
  readonly #bulk: IngestOptions['bulk'];
  readonly #freesSpace: boolean;
  readonly #isUpkeep: boolean | undefined;
  /** Protect the base of the change, and its written segments, from collections. */
  readonly #holds: Hold[] = [];
  #finished = false;
  #ended = false;
  /** Whether the base of the change may contain unwanted sum trees that follow rows. */
  #dropsSums: boolean;
  /** The generation that the change builds on. */
  #onto: number;
  readonly #holdBytes: number;
  rows = 0;
  bytes = 0;
  durableRows = 0;

  /** Starts a change that may take long: it is rebased onto commits that others make during it. */
  static async begin(
    host: Host,
    branchHead: BranchHead,
    durability: Durability,
    options: IngestOptions,
  ): Promise<Ingest> {
    const held = await branchHead.holdHead();
    try {
      await branchHead.shared.prepareIds(options.freesSpace);
      return new Ingest(host, branchHead, durability, options, held);
    } catch (cause) {
      held.release();
      throw cause;
    }
  }

  /**
   * Without `held`, the caller must keep other commits of this handle away until the ingest ends. Call
   * `shared.prepareIds` first.
   */
  constructor(
    host: Host,
    branchHead: BranchHead,
    durability: Durability,
    { prefix = '', pointer, bytes, signal, bulk, freesSpace = false, isUpkeep }: IngestOptions,
    held?: HeldHead,
  ) {
    this.#isUpkeep = isUpkeep;
    this.#freesSpace = freesSpace;
    this.#pipe = new SegmentPipe(this, host, branchHead, { durability, freesSpace });
    if (held !== undefined) this.#holds.push(held);
    this.#host = host;
    this.#branchHead = branchHead;
    this.#durability = durability;
    this.#signal = signal;
    this.#isBytes = bytes !== undefined;
    this.#bulk = bulk;
    this.#holdBytes = branchHead.head.rows === 0 ? WRITE_BYTES : HELD_BYTES;
    const { view, generation } = held?.head ?? branchHead.head;
    this.#onto = generation;
    this.op =
      bytes === undefined
        ? calls.ingest(host.engine, view, prefix, pointer ?? '')
        : calls.ingestBytes(host.engine, view, { prefix, pointer, ...bytes });
    this.#dropsSums = branchHead.leftovers.sums;
    // A missing tree is made in this commit.
    const hasSums = host.sums !== undefined && host.sums.size > 0 && !branchHead.isBare;
    if (hasSums) calls.expectSums(host.engine, this.op);
  }

  /** The number of segments made so far. */
  get segments(): number {
    return this.#pipe.made;
  }

  /** True for a bulk change until its rows end; after that others wait for its commit. */
  get waitsForSpace(): boolean {
    return this.#bulk !== undefined && !this.#finished;
  }

  /** Returns the figures of a change that began at `startMs`, and of its commit. */
  statsOf({ chunks }: IngestCommit, startMs: number): WriteStats {
    const { bytes, segments, times } = this;
    return { bytes, chunks, segments, ms: performance.now() - startMs, ...times };
  }

  /** Keeps a hold until the ingest ends. */
  keep(hold: Hold): void {
    this.#holds.push(hold);
  }

  /** Calls `listener` when the core traps, which loses the ingest; returns a function that ends this. */
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

  /** Copies bytes for the next `drain`. */
  append(bytes: Uint8Array): void {
    calls.append(this.#host.engine, this.op, bytes);
    this.bytes += bytes.length;
  }

  /** Marks the end of the bytes. */
  end(): void {
    calls.endIngest(this.#host.engine, this.op);
  }

  /** Reads all complete rows of the bytes until now. Their first slice began at `startMs`. */
  async drain(startMs: number): Promise<void> {
    await this.#work(startMs);
    if (this.#pipe.heldBytes >= this.#holdBytes) await this.#pipe.flush(0);
  }

  /** Builds a part of the wanted indexes, from about `work` bytes of rows; if `alone`, drops other indexes. */
  extendIndexes(alone: boolean, work: number): void {
    calls.extendIndexes(this.#host.engine, this.op, alone, work);
  }

  /** Deletes all rows of a range. */
  async drop(range: EncodedRange): Promise<void> {
    calls.drop(this.#host.engine, this.op, range);
    await this.#work(performance.now());
  }

  /** Steps until the core has done all of its work. */
  async #work(startMs: number, run?: (budget: number) => number): Promise<void> {
    let start = startMs;
    for (;;) {
      this.check();
      const status = this.#host.step(this.op, start, run);
      if (status >= Status.row) failWrite(this.#host.engine, status, this.#isBytes);
      // Read the ids before any other call: they are in the last reply.
      const needed = status === Status.need ? this.#host.engine.readNeededParts() : [];
      if (this.#isBytes && run === undefined && status !== Status.need)
        this.rows = calls.readIngestedRows(this.#host.engine);
      this.#pipe.take(this.op);
      endSlice(this.times, start);
      if (status === Status.done) return;
      if (needed.length > 0) await measureStorage(this.times, this.#host.load(needed));
      if (this.#pipe.heldBytes >= this.#holdBytes) await this.#pipe.flush(0);
      await turn();
      start = performance.now();
    }
  }

  /** Throws if a segment could not be written, the branch has an owner, or the signal is aborted. */
  check(): void {
    this.#pipe.check();
    if (!this.#isUpkeep) this.#branchHead.shared.checkOwner(this.#branchHead);
    checkSignal(this.#signal);
  }

  /**
   * Makes the commit once no other commit is in progress. The commit is atomic. It wins for the keys that this change
   * touches; for all other keys the commits of other writers since its start stay.
   */
  async commit(): Promise<IngestCommit> {
    await this.#finish();
    await this.#pipe.flush(LAST_BYTES);
    await this.#pipe.settle(0);
    if (this.#bulk !== undefined) await this.#bulk.before;
    return this.#branchHead.exclusively(() => this.commitNow(), this.#signal);
  }

  /** As `commit`, for a caller that makes sure that no other commit is in progress. */
  async commitNow(): Promise<IngestCommit> {
    await this.#finish();
    return retryCommit(this.#branchHead, () => this.#attempt());
  }

  /**
   * As `commitNow`, with one try, and with other moves in its transaction: returns `undefined` when another writer was first. An ingest without a hold must then
   * start again from the beginning.
   */
  async commitOnce(joint?: JointMoves): Promise<IngestCommit | undefined> {
    await this.#finish();
    return this.#attempt(joint);
  }

  async #finish(): Promise<void> {
    if (this.#finished) return;
    this.#finished = true;
    // Merging begins: a different kind of work.
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
   * Adds the changes between the commits of two views, except for the keys of fed rows. Call `commitOnce` afterwards.
   */
  async bringIn(from: number, to: number): Promise<void> {
    await this.#finish();
    const { engine } = this.#host;
    calls.since(engine, this.op, from);
    calls.rebaseIngest(engine, this.op, to, []);
    await this.#work(performance.now());
  }

  /** Tries to commit; `undefined` when another writer was first. */
  async #attempt(joint?: JointMoves): Promise<IngestCommit | undefined> {
    const { engine } = this.#host;
    let { head } = this.#branchHead;
    const overrides = this.#bulk?.overrides ?? new Set();
    if (head.generation !== this.#onto || overrides.size > 0) {
      // Hold the new base: the commit reuses its chunks, even if yet another writer is first.
      const held = await this.#branchHead.holdNow();
      this.#holds.push(held);
      ({ head } = held);
      this.#onto = head.generation;
      this.#dropsSums = this.#branchHead.leftovers.sums;
      calls.rebaseIngest(engine, this.op, head.view, overrides);
      await this.#work(performance.now());
    }
    await this.#bringSums();
    // Other calls may have overwritten the reply of the last step: ask once more.
    engine.step(this.op, 1);
    const { chunks, commitBytes } = calls.readIngestReply(engine);
    await this.#pipe.flush(LAST_BYTES);
    await this.#pipe.settle(0);
    // The branch may have got an owner since the change began.
    this.check();
    if (this.#branchHead.isHead(commitBytes)) {
      // No row has changed: there is no commit to write, unless another writer has moved the ref.
      if (await this.#branchHead.refresh()) return undefined;
      // The head itself may not be durable. Moving the ref onto itself flushes it.
      const isSafe = this.#durability === 'relaxed' || this.#branchHead.isHeadDurable;
      if (!isSafe && !(await this.#move(commitBytes, [], joint))) return undefined;
      if (!isSafe) await this.#branchHead.moveOnto(commitBytes, head.generation + 1);
      await this.abandon();
      this.durableRows = this.rows;
      return { chunks: 0, commitBytes, rowsBefore: head.rows };
    }
    // Copying many bytes to storage needs a slice of its own; a small commit does not.
    if (this.#pipe.heldBytes > QUICK_BYTES) await turn();
    const moving = this.#move(commitBytes, this.#pipe.held, joint);
    if (!(await measureStorage(this.times, moving))) return undefined;
    this.#stay();
    this.durableRows = this.rows;
    await this.#branchHead.moveOnto(commitBytes, head.generation + 1);
    if (this.#dropsSums) this.#branchHead.leftovers.sums = false;
    return { chunks, commitBytes, rowsBefore: head.rows };
  }

  async #move(
    commitBytes: Uint8Array,
    segments: readonly MadeSegment[],
    joint: JointMoves | undefined,
  ): Promise<boolean> {
    // If other tabs no longer see a hold, its chunks may have been collected.
    if (this.#holds.some(({ isSeen }) => isSeen === false)) {
      throw new HedgerowError(
        'unavailable/disconnected',
        'the browser has suspended the page: try again',
      );
    }
    const undo = committing(this.#signal);
    let isKept = false;
    try {
      const options = { durability: this.#durability, freesSpace: this.#freesSpace, ...joint };
      isKept = await this.#branchHead.move(commitBytes, segments, options, () => {
        isKept = true;
        // The ref may have moved to the commit: keep its segments, even if they become garbage.
        this.#stay();
      });
      return isKept;
    } finally {
      if (!isKept) undo();
    }
  }

  /** Ends the ingest and keeps its written segments. */
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

  /** Drops the change and deletes its segments. Idempotent. */
  async abandon(): Promise<void> {
    if (this.#ended) return;
    this.#free(false);
    await this.#pipe.discard();
    this.#release();
  }
}

/** Runs `change` and drops the ingest if it throws. */
export async function abandonOnError<T>(ingest: Ingest, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (cause) {
    await ingest.abandon();
    throw cause;
  }
}
