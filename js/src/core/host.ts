import * as Status from '../base/abi/status.js';
import { HedgerowError } from '../base/errors.js';
import { Pace, turn } from '../base/scheduler.js';
import type { Index } from '../indexes/definition.js';
import { IndexSet } from '../indexes/index-set.js';
import type { SegmentStore } from '../storage/segment-store.js';
import { indexCore } from './calls/indexes.js';
import { loadSegment, removeSegment } from './calls/segments.js';
import { Engine, type Op } from './engine.js';
import { QUICK_WORK, WORK_IN_MS } from './speed.js';
import { fail } from './status.js';

/** What slices came to. */
export interface Slices {
  slices: number;
  longestSliceMs: number;
  /** Called after each. */
  onSlice?(): void;
}

/** What the slices of an operation came to. */
export interface SliceTimes extends Slices {
  /** Time spent waiting for storage. */
  storageMs: number;
}

/** A slice that began at `startMs` is over. */
export function endSlice(times: Slices, startMs: number): void {
  times.slices += 1;
  times.longestSliceMs = Math.max(times.longestSliceMs, performance.now() - startMs);
  times.onSlice?.();
}

/** The part of the core that has an operation: the first one, or one that is loaded later. */
export type Runner = Pick<Engine, 'step' | 'ahead' | 'free'>;

/**
 * Drives operations of the core: the only code that knows of both time and storage. It
 * fetches the segments that an operation needs, and hands out the thread between slices.
 */
export class Host {
  readonly engine: Engine;
  readonly segments: SegmentStore;
  readonly sliceMs: number;
  readonly indexes: IndexSet;
  /** Sum trees that are to follow rows, in the handles of this store: definitions by name. */
  readonly sums: ReadonlyMap<string, string> | undefined;
  /** Resolves when the core works again after a trap. */
  recover: () => Promise<void> = async () => {};
  readonly #pace: Pace;
  readonly #loading = new Map<number, Promise<void>>();
  /** Has sum trees follow what an ingest changes, maybe `alone`; returns what goes on with that. */
  bringSums: (op: Op, alone: boolean) => Promise<(budget: number) => number> = async () => {
    throw new HedgerowError('storage', 'nothing brings sum trees here');
  };
  /** Called before an ingest is freed, whose handle another one will have. */
  forgetSums?: (op: Op) => void;
  /** Called when a segment is gone: another handle may have moved what was in it. */
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
    this.#pace = new Pace(sliceMs, WORK_IN_MS);
  }

  /** A host over a core of its own, without storage: what it works on is given to it. */
  static async alone(cacheBytes: number, sliceMs: number): Promise<Host> {
    return new Host(await Engine.create(cacheBytes), {} as SegmentStore, sliceMs);
  }

  /** Loads segments into the core. */
  async load(wanted: readonly number[]): Promise<void> {
    const fresh = wanted.filter((id) => !this.#loading.has(id));
    if (fresh.length > 0) {
      const loading = this.#read(fresh).finally(() => {
        for (const id of fresh) this.#loading.delete(id);
      });
      for (const id of fresh) this.#loading.set(id, loading);
    }
    await Promise.all(wanted.map((id) => this.#loading.get(id)));
  }

  /** Loads segments that will be wanted. A failure is told to whoever needs them. */
  prefetch(wanted: readonly number[]): void {
    if (wanted.length > 0) this.load(wanted).catch(() => {});
  }

  async #read(ids: readonly number[]): Promise<void> {
    const { epoch } = this.engine;
    const found = await this.segments.read(ids);
    // Whoever works on another instance by now asks again.
    if (this.engine.epoch !== epoch) return;
    if (found.includes(undefined)) await this.onGone();
    if (this.engine.epoch !== epoch) return;
    for (const [index, id] of ids.entries()) {
      const segmentBytes = found[index];
      // Without its segment the core finds the chunk elsewhere, or says that it is missing.
      if (segmentBytes === undefined) removeSegment(this.engine, id);
      else loadSegment(this.engine, id, segmentBytes);
    }
  }

  /** One step of work for what is left of a slice that began at `startMs`. */
  step(op: Op, startMs: number, run = (budget: number) => this.engine.step(op, budget)): number {
    const before = performance.now();
    const left = Math.max(this.sliceMs - (before - startMs), 1);
    // The core reads 32 bits.
    const budget = Math.min(Math.ceil((this.#pace.units * left) / this.sliceMs), 0x7fff_ffff);
    const status = run(budget);
    if (status === Status.yield) this.#pace.learn(budget, performance.now() - before);
    return status;
  }

  /** Has the next steps begin with less work: it is of another kind than that of the last ones. */
  doubt(): void {
    this.#pace.doubt();
  }

  /**
   * Runs a read to its end and returns what `answer` takes from the reply. Work that is
   * small and in memory is done in the caller's own turn.
   */
  async read<T>(op: Op, answer: () => T, runner: Runner = this.engine): Promise<T> {
    const run = (budget: number) => runner.step(op, budget);
    try {
      let status = run(QUICK_WORK);
      for (;;) {
        if (status === Status.done) {
          this.engine.succeeded();
          return answer();
        }
        if (status === Status.need) await this.load(this.engine.needed());
        else if (status === Status.yield) await turn();
        else fail(this.engine, status);
        status = this.step(op, performance.now(), run);
      }
    } finally {
      runner.free(op);
    }
  }
}
