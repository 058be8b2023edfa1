/** Feeds rows to the core in slices, writes the segments that it makes, and commits. */

import { HedgerowError } from '../base/errors.js';
import { MAX_IN_FLIGHT_BYTES, WRITE_BYTES } from '../base/limits.js';
import type { EncodedRange } from '../base/range.js';
import { turn } from '../base/scheduler.js';
import { checkSignal, committing } from '../base/signal.js';
import { type MadeSegment, type Op, Status } from '../core/engine.js';
import { endSlice, type Host, type SliceTimes } from '../core/host.js';
import type { BranchHead, HeldHead, Overrides } from '../history/branch-head.js';
import type { Durability, WriteBatch } from '../storage/segment-store.js';
import type { Hold } from '../tabs/pins.js';
import type { Block } from './block.js';
import type { IngestResult, Progress } from './ingest-result.js';

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
  /** Of a bulk change: see `BranchHead.beginBulk`. */
  readonly bulk?: { readonly overrides: Overrides; readonly before: Promise<void> };
  /** Other refs that are moved with the commit. */
  readonly also?: WriteBatch['also'];
  /** It only deletes: see `WriteBatch.makesRoom`. */
  readonly makesRoom?: boolean | undefined;
}

/** So few bytes are handed to storage in the slice that made them. */
const QUICK_BYTES = 32 << 10;

/** One change on its way to a commit. */
export class Ingest {
  readonly times: SliceTimes = { slices: 0, longestSliceMs: 0, storageMs: 0 };
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #durability: Durability;
  /** In the core. */
  readonly op: Op;
  readonly #signal: AbortSignal | undefined;
  readonly #isBytes: boolean;
  readonly #bulk: IngestOptions['bulk'];
  readonly #also: IngestOptions['also'];
  readonly #makesRoom: boolean;
  /** What it builds on and what it has written, which nobody may collect. */
  readonly #holds: Hold[] = [];
  readonly #writers = new Set<number>();
  /** Made and not yet handed to storage. */
  #held: MadeSegment[] = [];
  #heldBytes = 0;
  #madeBytes = 0;
  readonly #writing = new Set<Promise<void>>();
  #writingBytes = 0;
  #written: number[] = [];
  #failure: unknown;
  #finished = false;
  #ended = false;
  /** Whether sum trees that follow rows and are not wanted may be left over in what it builds on. */
  #dropsSums: boolean;
  /** The generation that the change builds on. */
  #onto: number;
  readonly #holdBytes: number;
  segments = 0;
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
    await branchHead.prepareIds(options.makesRoom);
    const held = await branchHead.holdHead();
    try {
      return new Ingest(host, branchHead, durability, options, held);
    } catch (cause) {
      held.release();
      throw cause;
    }
  }

  /**
   * A change that is made while no commit is, or else with `held`. Call `commits.prepareIds`
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
        ? host.engine.ingest(view, prefix, pointer ?? '')
        : host.engine.ingestBytes(view, prefix, pointer, bytes.format, bytes.isPatch);
    this.#dropsSums = branchHead.leftovers.sums;
    // Where one is missing it is made.
    if (host.sums !== undefined && host.sums.size > 0) host.engine.expectSums(this.op);
  }

  /** Has `listener` called when the core traps, and the ingest is lost with it. */
  onLost(listener: (cause: unknown) => void): () => void {
    return this.#host.engine.onTrap(listener);
  }

  /** Feeds a block, as part of the slice that began at `startMs`. */
  async feed(block: Block, startMs: number): Promise<void> {
    const { engine } = this.#host;
    this.bytes += engine.feed(this.op, block.text, block.format, block.values);
    this.rows += block.rows;
    await this.#work(startMs);
    if (this.#heldBytes >= this.#holdBytes) await this.#flush(0);
  }

  /** Takes bytes, to be read by the next `drain`. Copies them. */
  append(bytes: Uint8Array): void {
    this.#host.engine.append(this.op, bytes);
    this.bytes += bytes.length;
  }

  /** There are no more bytes. */
  end(): void {
    this.#host.engine.end(this.op);
  }

  /** Reads all complete rows of the bytes so far, from the slice that began at `startMs` on. */
  async drain(startMs: number): Promise<void> {
    await this.#work(startMs);
    if (this.#heldBytes >= this.#holdBytes) await this.#flush(0);
  }

  /** Makes a part of the indexes that are wanted, of about `work` bytes of rows. */
  extendIndexes(alone: boolean, work: number): void {
    this.#host.engine.extendIndexes(this.op, alone, work);
  }

  /** Deletes all rows of a range. */
  async drop({ flags, rangeBytes }: EncodedRange): Promise<void> {
    this.#host.engine.drop(this.op, flags, rangeBytes);
    await this.#work(performance.now());
  }

  /** Steps until the core is done with what it was given. */
  async #work(startMs: number, run?: (budget: number) => number): Promise<void> {
    let start = startMs;
    for (;;) {
      this.check();
      const status = this.#host.step(this.op, start, run);
      if (status >= Status.row) this.#host.engine.fail(status, this.#isBytes);
      // Before anything else asks the core: the ids are in its last reply.
      const needed = status === Status.need ? this.#host.engine.needed() : [];
      if (this.#isBytes && run === undefined && status !== Status.need)
        this.rows = this.#host.engine.word(0);
      this.#collect();
      endSlice(this.times, start);
      if (status === Status.done) return;
      if (needed.length > 0) await this.#waiting(this.#host.load(needed));
      if (this.#heldBytes >= this.#holdBytes) await this.#flush(0);
      await turn();
      start = performance.now();
    }
  }

  async #waiting<T>(promise: Promise<T>): Promise<T> {
    const start = performance.now();
    const result = await promise;
    this.times.storageMs += performance.now() - start;
    return result;
  }

  /** Throws why it does not go on, if it does not. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
    checkSignal(this.#signal);
  }

  /** Takes finished segments. */
  #collect(): void {
    const { engine } = this.#host;
    for (;;) {
      const segment = engine.takeSegment(this.op);
      if (segment === undefined) break;
      this.segments += 1;
      this.#branchHead.shared.made(segment.id);
      this.#held.push(segment);
      this.#heldBytes += segment.segmentBytes.length;
      this.#use(segment.segmentBytes.length);
    }
  }

  /**
   * Hands segments to storage until at most `bytes` are held, in slices of their own: half
   * of what a load costs this thread is the copying that IndexedDB does in `put`.
   */
  async #flush(bytes: number): Promise<void> {
    while (this.#heldBytes > bytes) {
      // A change that holds up no other waits for room.
      if (this.#bulk !== undefined && !this.#finished) await this.#branchHead.shared.room(true);
      await this.#announce();
      await turn();
      const startMs = performance.now();
      do this.#write();
      while (this.#heldBytes > bytes && performance.now() - startMs < this.#host.sliceMs / 2);
      endSlice(this.times, startMs);
      if (this.#writingBytes > MAX_IN_FLIGHT_BYTES) await this.#settle(MAX_IN_FLIGHT_BYTES / 2);
      this.check();
    }
  }

  /** Tells that segments will be stored which no commit reaches yet. */
  async #announce(): Promise<void> {
    for (const { id } of this.#held) {
      const writer = this.#branchHead.shared.writerOf(id);
      if (this.#writers.has(writer)) continue;
      this.#writers.add(writer);
      this.#holds.push(await this.#branchHead.pins.writing(writer));
    }
  }

  /** Writes the segment held longest, in a transaction of its own. */
  #write(): void {
    const segment = this.#held.shift();
    if (segment === undefined) return;
    const { id } = segment;
    const [size, rows] = [segment.segmentBytes.length, this.rows];
    this.#heldBytes -= size;
    this.#writingBytes += size;
    const writing = this.#host.segments
      .write({ segments: [segment], durability: this.#durability, makesRoom: this.#makesRoom })
      .then(() => {
        this.#branchHead.inventory.stored(id);
        this.#written.push(id);
        this.durableRows = Math.max(this.durableRows, rows);
      })
      .catch((cause: unknown) => {
        this.#failure ??= cause;
      })
      .finally(() => {
        this.#writing.delete(writing);
        this.#writingBytes -= size;
      });
    this.#writing.add(writing);
  }

  /** Waits until at most `bytes` are in flight. */
  async #settle(bytes: number): Promise<void> {
    while (this.#writingBytes > bytes || (bytes === 0 && this.#writing.size > 0)) {
      await this.#waiting(Promise.race(this.#writing));
    }
    this.check();
  }

  /**
   * Makes the commit, when no other commit is being made. It is atomic and the last word: of
   * what other writers have committed since this change began, all stays that it did not touch.
   */
  async commit(): Promise<Committed> {
    await this.#finish();
    await this.#flush(LAST_BYTES);
    await this.#settle(0);
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
    this.#host.engine.finish(this.op);
    await this.#work(performance.now());
    await this.#bringSums();
  }

  async #bringSums(): Promise<void> {
    if (!this.#host.engine.awaitsSums(this.op)) return;
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
    engine.since(this.op, from);
    engine.rebase(this.op, to, []);
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
      engine.rebase(this.op, head.view, overrides);
      await this.#work(performance.now());
    }
    await this.#bringSums();
    // The reply of the last step is gone by now: ask once more.
    engine.step(this.op, 1);
    const [chunks, commitBytes] = [engine.word(1), engine.hash(3)];
    await this.#flush(LAST_BYTES);
    await this.#settle(0);
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
    if (this.#heldBytes > QUICK_BYTES) await turn();
    if (!(await this.#waiting(this.#move(commitBytes, this.#held)))) return undefined;
    this.#keep();
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
        this.#keep();
      });
      return isKept;
    } finally {
      if (!isKept) undo();
    }
  }

  /** So many bytes more are of this change alone. */
  #use(bytes: number): void {
    this.#madeBytes += bytes;
    this.#branchHead.shared.unusedBytes += bytes;
  }

  #keep(): void {
    this.#free(true);
    this.#release();
  }

  #free(committed: boolean): void {
    this.#ended = true;
    this.#use(-this.#madeBytes);
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
    for (const { id } of this.#held) this.#branchHead.inventory.unmade(id);
    this.#held = [];
    await Promise.all(this.#writing);
    const written = this.#written;
    this.#written = [];
    for (const id of written) this.#branchHead.inventory.unmade(id);
    // Debris costs space until it is collected: that it stays is no reason to hide the failure.
    if (written.length > 0) await this.#host.segments.delete(written).catch(() => {});
    for (const id of written) {
      // An instance that was started meanwhile may have seen them.
      this.#branchHead.inventory.unmade(id);
      this.#host.engine.removeSegment(id);
    }
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
