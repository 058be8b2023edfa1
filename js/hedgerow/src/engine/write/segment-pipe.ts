/** Writes finished segments of a change to storage, in slices of their own, while the core makes the next ones. */
import { MAX_IN_FLIGHT_BYTES } from '../../base/limits.js';
import { turn } from '../../base/slice-queue.js';
import { type MadeSegment, removeSegment, takeSegment } from '../../core/calls/segment-calls.js';
import type { Op } from '../../core/engine.js';
import { endSlice, type Host, type SliceTimes } from '../../core/operation-host.js';
import type { WriteBatch } from '../../storage/segment-store.js';
import { announceWriter } from '../../storage/tabs/announce-writer.js';
import type { Hold } from '../../storage/tabs/pins.js';
import type { BranchHead } from '../history/branch-head.js';
import { writerOf } from '../history/segment-ids.js';

/** The change that the segments belong to. */
export interface PipedChange {
  readonly times: SliceTimes;
  /** The number of rows read, and of stored ones among them. */
  readonly rows: number;
  durableRows: number;
  /** The change blocks no other change, and so waits for space. */
  readonly waitsForSpace: boolean;
  /** Keeps a hold until the change ends. */
  keep(hold: Hold): void;
  /** Throws if the change was aborted. */
  check(): void;
}

/** The segments of one change: held here, in flight, or stored. */
export class SegmentPipe {
  readonly #change: PipedChange;
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #options: Pick<WriteBatch, 'durability' | 'freesSpace'>;
  /** The writer numbers that have been announced to other tabs. */
  readonly #writers = new Set<number>();
  #held: MadeSegment[] = [];
  #heldBytes = 0;
  #madeBytes = 0;
  readonly #writing = new Set<Promise<void>>();
  #writingBytes = 0;
  #written: number[] = [];
  #failure: unknown;
  /** The number of segments made. */
  made = 0;

  constructor(
    change: PipedChange,
    host: Host,
    branchHead: BranchHead,
    options: Pick<WriteBatch, 'durability' | 'freesSpace'>,
  ) {
    this.#change = change;
    this.#host = host;
    this.#branchHead = branchHead;
    this.#options = options;
  }

  /** Segments that are made and not yet handed to storage. */
  get held(): readonly MadeSegment[] {
    return this.#held;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Throws if a segment could not be written. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Takes finished segments from the core. */
  take(op: Op): void {
    const { engine } = this.#host;
    for (;;) {
      const segment = takeSegment(engine, op);
      if (segment === undefined) break;
      this.made += 1;
      this.#branchHead.shared.registerSegment(segment.id);
      this.#held.push(segment);
      this.#heldBytes += segment.segmentBytes.length;
      this.#use(segment.segmentBytes.length);
    }
  }

  /** Adds to the bytes that no commit reaches yet. */
  #use(bytes: number): void {
    this.#madeBytes += bytes;
    this.#branchHead.shared.unusedBytes += bytes;
  }

  /**
   * Hands segments to storage until at most `bytes` are held. Uses slices of its own: IndexedDB copies in `put`, which
   * is half of the time that a load takes on this thread.
   */
  async flush(bytes: number): Promise<void> {
    const change = this.#change;
    while (this.#heldBytes > bytes) {
      if (change.waitsForSpace) await this.#branchHead.shared.waitForSpace(true);
      await this.#announce();
      await turn();
      const startMs = performance.now();
      do this.#write();
      while (this.#heldBytes > bytes && performance.now() - startMs < this.#host.sliceMs / 2);
      endSlice(change.times, startMs);
      if (this.#writingBytes > MAX_IN_FLIGHT_BYTES) await this.settle(MAX_IN_FLIGHT_BYTES / 2);
      change.check();
    }
  }

  /** Announces segments to other tabs before they are stored, since no commit reaches them yet. */
  async #announce(): Promise<void> {
    for (const { id } of this.#held) {
      const writer = writerOf(id);
      if (this.#writers.has(writer)) continue;
      this.#writers.add(writer);
      this.#change.keep(await announceWriter(this.#branchHead.pins, writer));
    }
  }

  /** Writes the oldest held segment, in a transaction of its own. */
  #write(): void {
    const segment = this.#held.shift();
    if (segment === undefined) return;
    const { id } = segment;
    const [size, rows] = [segment.segmentBytes.length, this.#change.rows];
    this.#heldBytes -= size;
    this.#writingBytes += size;
    const writing = this.#host.segments
      .write({ segments: [segment], ...this.#options })
      .then(() => {
        this.#branchHead.inventory.markStored(id);
        this.#written.push(id);
        this.#change.durableRows = Math.max(this.#change.durableRows, rows);
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
  async settle(bytes: number): Promise<void> {
    while (this.#writingBytes > bytes || (bytes === 0 && this.#writing.size > 0)) {
      await measureStorage(this.#change.times, Promise.race(this.#writing));
    }
    this.#change.check();
  }

  /** Ends the count of bytes that no commit reaches: the change is committed or dropped. */
  end(): void {
    this.#use(-this.#madeBytes);
  }

  /** Drops held segments, and deletes written ones. */
  async discard(): Promise<void> {
    const { inventory } = this.#branchHead;
    for (const { id } of this.#held) inventory.unmade(id);
    this.#held = [];
    await Promise.all(this.#writing);
    const written = this.#written;
    this.#written = [];
    if (written.length === 0) return;
    const { segments, engine } = this.#host;
    for (const id of written) {
      inventory.unmade(id);
      inventory.dropped.add(id);
      // The segment may have entered a new instance of the core.
      removeSegment(engine, id);
    }
    // If deleting fails, the segments take space until a collection; report the first failure.
    await segments.delete(written).catch(() => {
      for (const id of written) inventory.dropped.delete(id);
    });
  }
}

/** Adds the time until `promise` settles to `storageMs`. */
export async function measureStorage<T>(times: SliceTimes, promise: Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await promise;
  times.storageMs += performance.now() - start;
  return result;
}
