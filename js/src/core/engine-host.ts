import * as Need from '../base/abi/need.js';
import * as Status from '../base/abi/status.js';
import { HedgerowError } from '../base/errors.js';
import { SlicePace, turn } from '../base/scheduler.js';
import { type SegmentRequest, type SegmentStore, segmentOf } from '../storage/segment-store.js';
import { indexCore } from './calls/indexes.js';
import { output, readCountReply, scan, startCount } from './calls/read-calls.js';
import { loadSegment, removeSegment } from './calls/segment-calls.js';
import { Engine, type Op } from './engine.js';
import type { Index } from './indexes/definition.js';
import { IndexSet } from './indexes/index-set.js';
import { isFar } from './needed-part.js';
import type { PendingTables } from './pending-tables.js';
import { QUICK_WORK, WORK_IN_MS } from './speed.js';
import { fail } from './status-errors.js';

/** The number of slices, and the longest. */
export interface SliceStats {
  slices: number;
  longestSliceMs: number;
  /** Called after each. */
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

/** Bytes that are read at once: they enter the core while the next are being read. A segment counts as a full one. */
const GROUP_BYTES = 4 << 20;
/** Groups under way at once. */
const GROUPS = 3;
const FULL_BYTES = 512 << 10;

/** Splits what is wanted into groups of about `GROUP_BYTES`. */
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

/** The part of the core that runs an operation: the first one, or the later one. */
export type Runner = Pick<Engine, 'step' | 'ahead' | 'free'>;

/**
 * Runs operations of the core: the only code that knows both time and storage. It loads the segments
 * that an operation needs, and yields the thread between slices.
 */
export class Host {
  readonly engine: Engine;
  readonly segments: SegmentStore;
  readonly sliceMs: number;
  readonly indexes: IndexSet;
  /** For entries of their own: if they imported these, the start of a page would be cut in more pieces, and be larger. */
  readonly reads = { scan, output, count: startCount, counted: readCountReply };
  /** The wanted sum trees that follow rows, for all handles of this store: definitions by name. */
  readonly sums: ReadonlyMap<string, string> | undefined;
  /**
   * Called with each store, branch, snapshot and transaction that is made: it may get tables. `inner` is the branch head of
   * a store, and the edits of a transaction.
   */
  onHandle: ((handle: object, inner?: unknown) => void) | undefined;
  /**
   * Brings the rows of a branch to the versions of tables, by transactions that `run` makes. Set where rows of tables have
   * versions: such rows may also come to a branch that has no handle.
   */
  bringForward:
    | ((run: (body: (tx: never) => Promise<void>) => Promise<unknown>) => Promise<void>)
    | undefined;
  /** The tables that have not entered the core, while there are any. */
  pendingTables: PendingTables | undefined;
  /** Resolves once the core works again after a trap. */
  recover: () => Promise<void> = async () => {};
  readonly #pace: SlicePace;
  /** What is being loaded, by `nameOf`. */
  readonly #loading = new Map<number | string, Promise<void>>();
  /** Groups that are read or enter the core, and when the slice of that began. */
  #entering = 0;
  #enterMs = 0;
  /**
   * Starts the sum update of an ingest; if `alone`, drops other trees that follow rows. Returns its step function. Set by
   * whoever has ingests: an open store, and a repair.
   */
  declare bringSums: (op: Op, alone: boolean) => Promise<(budget: number) => number>;
  /** Called before an ingest is freed: its handle will be reused. */
  forgetSums?: (op: Op) => void;
  /** Called when a segment is not stored any more: another handle may have moved its chunks. */
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

  /** A host with a core of its own and without storage, for work on bytes in memory. */
  static async alone(cacheBytes: number, sliceMs: number): Promise<Host> {
    return new Host(await Engine.create(cacheBytes), {} as SegmentStore, sliceMs);
  }

  /**
   * Loads segments, and parts of segments, into the core. What is at a remote does not come, and fails those alone who need
   * nothing else: `lazy/load-apart.ts` changes that.
   */
  async load(wanted: readonly SegmentRequest[]): Promise<void> {
    const here = wanted.filter((one) => !isFar(one));
    if (here.length > 0 || wanted.length === 0) return this.bring(here);
    throw new HedgerowError('offline', "at the remote: clone with mode: 'lazy' opens it");
  }

  /** Has all tables enter the core, for what goes by them, and not by hashes alone. */
  async complete(): Promise<void> {
    await this.pendingTables?.empty();
  }

  /** Loads what is here, and at a remote. */
  async bring(wanted: readonly SegmentRequest[]): Promise<void> {
    const tables = wanted.filter((one) => segmentOf(one) === Need.noSegment);
    if (tables.length > 0) {
      // The rest is asked for again: more of what is wanted may be known then.
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

  /** What is under way, with the whole segment if that is. */
  #underWay(wanted: SegmentRequest): Promise<void> | undefined {
    return this.#loading.get(segmentOf(wanted)) ?? this.#loading.get(nameOf(wanted));
  }

  /** Loads ahead of its use. A failure is reported only by the operation that needs it. */
  prefetch(wanted: readonly SegmentRequest[]): void {
    if (wanted.length > 0) this.load(wanted).catch(() => {});
  }

  /** Reads a group when the one `before` has entered the core, or has failed. */
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
    // Time in which storage was at work is no time of this thread.
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

  /** Makes the next steps smaller: a different kind of work begins. */
  doubt(): void {
    this.#pace.doubt();
  }

  /**
   * Runs a read to its end, frees it, and returns what `answer` takes from the reply. Small reads
   * from memory take no turn of the event loop.
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
