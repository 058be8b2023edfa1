import * as Need from '../base/abi/need.js';
import * as Status from '../base/abi/status.js';
import { HedgerowError } from '../base/errors.js';
import { SlicePace, turn } from '../base/slice-queue.js';
import { type SegmentRequest, type SegmentStore, segmentOf } from '../storage/segment-store.js';
import { QUICK_WORK, WORK_IN_MS } from './assumed-speed.js';
import { indexCore } from './calls/indexes.js';
import { output, readCountReply, scan, startCount } from './calls/read-calls.js';
import { loadSegment, removeSegment } from './calls/segment-calls.js';
import type { Engine, Op } from './engine.js';
import type { Index } from './indexes/definition.js';
import { IndexSet } from './indexes/index-set.js';
import { isFar } from './needed-segment-part.js';
import type { PendingTables } from './pending-segment-tables.js';
import { fail } from './status-errors.js';

/** The number of slices, and the time of the longest. */
export interface SliceStats {
  slices: number;
  longestSliceMs: number;
  /** Called after each slice. */
  onSlice?(): void;
}

/** The times of an operation. */
export interface SliceTimes extends SliceStats {
  /** Milliseconds of waiting for storage. */
  storageMs: number;
}

/** Counts a slice that began at `startMs` and ends now. */
export function endSlice(times: SliceStats, startMs: number): void {
  times.slices += 1;
  times.longestSliceMs = Math.max(times.longestSliceMs, performance.now() - startMs);
  times.onSlice?.();
}

function nameOf(wanted: SegmentRequest): number | string {
  return typeof wanted === 'number' ? wanted : `${wanted.id} ${wanted.from}`;
}

/** Bytes of one read: they enter the core while storage reads the next group. A segment counts as a full one. */
const GROUP_BYTES = 4 << 20;
/** The number of groups under way at once. */
const GROUPS = 3;
const FULL_BYTES = 512 << 10;

/** Splits requests into groups of about `GROUP_BYTES`. */
function* groupsOf(wanted: readonly SegmentRequest[]): Generator<SegmentRequest[]> {
  let group: SegmentRequest[] = [];
  let bytes = 0;
  for (const one of wanted) {
    group.push(one);
    bytes += typeof one === 'number' ? FULL_BYTES : one.to - one.from;
    if (bytes >= GROUP_BYTES) {
      yield group;
      group = [];
      bytes = 0;
    }
  }
  if (group.length > 0) yield group;
}

/** The part of the core that runs an operation: the first or the later one. */
export type Runner = Pick<Engine, 'step' | 'ahead' | 'free'>;

/**
 * The host of operations of the core, and the only code that knows both time and storage. It loads the segments that an
 * operation needs, and yields the thread between slices.
 */
export class Host {
  readonly engine: Engine;
  readonly segments: SegmentStore;
  readonly sliceMs: number;
  readonly indexes: IndexSet;
  /** Calls for other entries of the package: imports of them would cut the start of a page in more pieces. */
  readonly reads = { scan, output, count: startCount, counted: readCountReply };
  /** The definitions, by name, of the wanted sum trees that follow rows, for all handles of this store. */
  readonly sums: ReadonlyMap<string, string> | undefined;
  /**
   * Called with each new store, branch, snapshot and transaction, which may get tables. `inner` is the branch head of a
   * store, or the edits of a transaction.
   */
  onHandle: ((handle: object, inner?: unknown) => void) | undefined;
  /**
   * Brings the rows of a branch to the versions of tables, by transactions that `run` makes. Set if rows of tables have
   * versions: such rows may also come to a branch without a handle.
   */
  bringForward:
    | ((run: (body: (tx: never) => Promise<void>) => Promise<unknown>) => Promise<void>)
    | undefined;
  /** The tables that have not entered the core, if any. */
  pendingTables: PendingTables | undefined;
  /** Resolves when the core works again after a trap. */
  recover: () => Promise<void> = async () => {};
  readonly #pace: SlicePace;
  /** The loads under way, by `nameOf`. */
  readonly #loading = new Map<number | string, Promise<void>>();
  /** The groups that storage reads or that enter the core, and when their slice began. */
  #entering = 0;
  #enterMs = 0;
  /**
   * Starts the sum update of an ingest; if `alone`, drops other trees that follow rows. Returns its step function. An
   * open store and a repair set it, since they have ingests.
   */
  declare bringSums: (op: Op, alone: boolean) => Promise<(budget: number) => number>;
  /** Called before the end of an ingest, whose handle will be reused. */
  forgetSums?: (op: Op) => void;
  /** Called when storage no longer has a segment: another handle may have moved its chunks. */
  onGone: () => Promise<void> = async () => {};

  constructor(
    engine: Engine,
    segments: SegmentStore,
    sliceMs: number,
    indexes: readonly Index[] = [],
    sums?: ReadonlyMap<string, string>,
  ) {
    this.engine = engine;
    this.segments = segments;
    this.sliceMs = sliceMs;
    this.indexes = new IndexSet(indexCore(engine), indexes);
    this.sums = sums;
    this.#pace = new SlicePace(sliceMs, WORK_IN_MS);
    if (segments.requestCost !== undefined) engine.setRequestCost(segments.requestCost);
  }

  /**
   * Loads segments, and parts of segments, into the core. Leaves out parts at a remote, and rejects if all are there:
   * `sync/lazy/split-local-and-remote-loads.ts` changes that.
   */
  async load(wanted: readonly SegmentRequest[]): Promise<void> {
    const here = wanted.filter((one) => !isFar(one));
    if (here.length > 0 || wanted.length === 0) return this.bring(here);
    throw new HedgerowError('offline', "at the remote: clone with mode: 'lazy' opens it");
  }

  /** Passes all tables to the core, for work that goes by tables, not only by hashes. */
  async complete(): Promise<void> {
    await this.pendingTables?.empty();
  }

  /** Loads parts that are here, and at a remote. */
  async bring(wanted: readonly SegmentRequest[]): Promise<void> {
    const tables = wanted.filter((one) => segmentOf(one) === Need.noSegment);
    if (tables.length > 0) {
      // The core asks for the rest again: it may know more by then.
      return this.pendingTables?.give(tables);
    }
    const all: Promise<void>[] = [];
    for (const group of groupsOf(wanted.filter((one) => this.#underWay(one) === undefined))) {
      const loading = this.#read(group, all[all.length - GROUPS]).finally(() => {
        for (const one of group) this.#loading.delete(nameOf(one));
      });
      all.push(loading);
      for (const one of group) this.#loading.set(nameOf(one), loading);
    }
    await Promise.all(wanted.map((one) => this.#underWay(one)));
  }

  /** Returns the load under way, with the whole segment if that is loading. */
  #underWay(wanted: SegmentRequest): Promise<void> | undefined {
    return this.#loading.get(segmentOf(wanted)) ?? this.#loading.get(nameOf(wanted));
  }

  /** Loads ahead of use. Only the operation that needs the segments reports a failure. */
  prefetch(wanted: readonly SegmentRequest[]): void {
    if (wanted.length > 0) this.load(wanted).catch(() => {});
  }

  /** Reads a group when the group `before` has entered the core, or has failed. */
  async #read(wanted: readonly SegmentRequest[], before: Promise<void> | undefined): Promise<void> {
    const { epoch } = this.engine;
    if (before !== undefined) await before.catch(() => {});
    // Storage that answers at once does all of its work in this slice, and groups may come together.
    if (this.#entering++ === 0) this.#enterMs = performance.now();
    try {
      if (this.#isLate) await this.#rest();
      await this.#enter(wanted, epoch);
    } finally {
      this.#entering -= 1;
    }
  }

  get #isLate(): boolean {
    return performance.now() - this.#enterMs > this.sliceMs / 2;
  }

  async #rest(): Promise<void> {
    await turn();
    this.#enterMs = performance.now();
  }

  async #enter(wanted: readonly SegmentRequest[], epoch: number): Promise<void> {
    const startMs = performance.now();
    const reading = this.segments.read(wanted);
    const ownMs = performance.now() - startMs;
    const found = await reading;
    // The time of storage is not time of this thread.
    if (this.#entering === 1) this.#enterMs = performance.now() - ownMs;
    // After a trap, the operations of the new instance ask again.
    if (this.engine.epoch !== epoch) return;
    if (found.includes(undefined)) await this.onGone();
    for (const [index, one] of wanted.entries()) {
      if (this.#isLate) await this.#rest();
      if (this.engine.epoch !== epoch) return;
      const bytes = found[index];
      // Without the segment, the core finds the chunk in another one, or reports it as missing.
      if (bytes === undefined) removeSegment(this.engine, segmentOf(one));
      else loadSegment(this.engine, one, bytes);
    }
    this.engine.rebalance();
  }

  /** Runs one step that fits in the rest of a slice that began at `startMs`; returns its status. */
  step(op: Op, startMs: number, run = (budget: number) => this.engine.step(op, budget)): number {
    const before = performance.now();
    const left = Math.max(this.sliceMs - (before - startMs), 1);
    // The core takes a signed number of 32 bits.
    const budget = Math.min(Math.ceil((this.#pace.units * left) / this.sliceMs), 0x7fff_ffff);
    const status = run(budget);
    if (status === Status.yield) this.#pace.learn(budget, performance.now() - before);
    return status;
  }

  /** Makes the next steps smaller: another kind of work begins. */
  doubt(): void {
    this.#pace.doubt();
  }

  /**
   * Runs a read to its end, frees it, and returns the result of `answer`, which reads the reply. Small reads from
   * memory take no turn of the event loop.
   */
  async read<T>(op: Op, answer: () => T, runner: Runner = this.engine): Promise<T> {
    const run = (budget: number) => runner.step(op, budget);
    try {
      let status = run(QUICK_WORK);
      for (;;) {
        if (status === Status.done) {
          this.engine.noteSuccess();
          return answer();
        }
        if (status === Status.need) await this.load(this.engine.readNeededParts());
        else if (status === Status.yield) await turn();
        else fail(this.engine, status);
        status = this.step(op, performance.now(), run);
      }
    } finally {
      runner.free(op);
    }
  }
}
