/**
 * One queue of slices for the whole realm. Each turn of the event loop runs one slice, however many stores and ingests
 * work, and the waiting ones take turns.
 *
 * `scheduler.yield` does not fit: its continuations overtake ordinary tasks. A message from the page to itself is an
 * ordinary task: timers, input, network and frames run in between. A hidden page does not slow it down.
 */
import { poster } from './post-task.js';

const waiting: (() => void)[] = [];
let post: (() => void) | undefined;

function runOne(): void {
  const next = waiting.shift();
  if (waiting.length > 0) post?.();
  next?.();
}

/** Resolves when the caller may work for one slice. Costs about 0.1 ms. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) {
      post ??= poster(runOne);
      post();
    }
  });
}

/** The share of a slice that the plan fills. */
const PLANNED_SHARE = 0.8;

/** Milliseconds of work in which any clock ticks, even if most ticks come between slices. */
const COARSEST_MS = 2000;
/** Weighs one tick of a coarse clock: the more rarely it ticks, the more its time is chance. */
const weightOf = (grain: number) => Math.min(0.3, 2.5 / grain);

/** The pace of slices: learns from earlier slices how much work fits in one. */
export class SlicePace {
  readonly #sliceMs: number;
  readonly #first: number;
  #perMs: number;
  /** `#perMs` at the last useful measurement. */
  #measured: number;
  /** Whether the clock has stood still for a whole slice. */
  #isCoarse = false;
  /** Of a coarse clock: the shortest time that it has measured, and the work since its last tick. */
  #grain = Number.POSITIVE_INFINITY;
  #gathered = 0;

  /** `perMs` is a low first guess of the work in a millisecond, in the caller's unit. */
  constructor(sliceMs: number, perMs: number) {
    this.#sliceMs = sliceMs;
    this.#first = perMs;
    this.#perMs = perMs;
    this.#measured = perMs;
  }

  /** Units of work for a slice, with a margin for errors. */
  get units(): number {
    return Math.max(1, Math.floor(this.#perMs * this.#sliceMs * PLANNED_SHARE));
  }

  /** Reduces the next slices: another kind of work begins, which may be slower. */
  doubt(): void {
    this.#perMs = Math.max(this.#perMs / 4, Math.min(this.#perMs, this.#first));
  }

  /** Learns that `units` of work took `ms` milliseconds, by a clock that may tick rarely. */
  learn(units: number, ms: number): void {
    // If the clock is too coarse to measure a slice, measure several slices as one.
    if (ms === 0 && units > this.#perMs) this.#isCoarse = true;
    if (this.#isCoarse) {
      this.#gathered += units;
      if (ms === 0) {
        if (this.#gathered > this.#perMs * COARSEST_MS) this.#speedUp(this.#gathered);
        return;
      }
      this.#grain = Math.min(this.#grain, ms);
      // The slice took at least `ms - grain`, even if the clock was about to tick at its start.
      const isSlow = units < (ms - this.#grain) * this.#perMs;
      const gathered = this.#gathered;
      this.#gathered = 0;
      if (isSlow) this.#adjust(units / ms, 0.7);
      else this.#adjust(gathered / ms, weightOf(this.#grain));
    } else if (ms < 0.2) this.#speedUp(2 * units);
    else {
      const measured = units / ms;
      // Slow down at once and speed up with care: one long slice is worse than many short ones.
      this.#adjust(measured, measured < this.#perMs ? 0.7 : 0.3);
    }
  }

  #adjust(measured: number, weight: number): void {
    this.#perMs += (Math.min(measured, 4 * this.#perMs) - this.#perMs) * weight;
    this.#measured = this.#perMs;
  }

  /**
   * Speeds up after a time below the clock's resolution, which only shows that more work fits. `units` may be less than
   * a whole slice, and the work may have ended early. So the speed grows only to a limit until a real measurement.
   */
  #speedUp(units: number): void {
    this.#gathered = 0;
    const most = 4 * Math.max(this.#measured, this.#first);
    if (units > this.units) this.#perMs = Math.min(2 * this.#perMs, most);
  }
}
