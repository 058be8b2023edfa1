/**
 * One queue for the whole realm: however many stores and ingests are at work, one slice
 * runs in each turn of the event loop, and those waiting take turns.
 *
 * `scheduler.yield` would not do: its continuations overtake ordinary tasks. A message to
 * oneself is an ordinary task, so that timers, input, network and frames go in between,
 * and it is not slowed down in a hidden page.
 */
import { poster } from './task.js';

const waiting: (() => void)[] = [];
let post: (() => void) | undefined;

function runOne(): void {
  const next = waiting.shift();
  if (waiting.length > 0) post?.();
  next?.();
}

/** Resolves when it is the caller's turn to work for one slice. Costs about 0.1 ms. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) {
      post ??= poster(runOne);
      post();
    }
  });
}

/** The part of a slice that is planned for. */
const ROOM = 0.8;

/** Milliseconds of work in which any clock ticks, though most ticks may come between slices. */
const COARSEST_MS = 2000;
/** What one tick of a coarse clock counts for: the more seldom it ticks, the more that is chance. */
const weightOf = (grain: number) => Math.min(0.3, 2.5 / grain);

/** How much work fits in a slice, learned from the slices before. */
export class Pace {
  readonly #sliceMs: number;
  readonly #first: number;
  #perMs: number;
  /** As it was when a time last told something. */
  #told: number;
  /** The clock was seen to stand still for a slice. Then the least time that it has told, */
  #isCoarse = false;
  #grain = Number.POSITIVE_INFINITY;
  /** and the work since it last ticked. */
  #gathered = 0;

  /** `perMs` is a first guess, in the caller's unit of work, to be on the safe side. */
  constructor(sliceMs: number, perMs: number) {
    this.#sliceMs = sliceMs;
    this.#first = perMs;
    this.#perMs = perMs;
    this.#told = perMs;
  }

  /** Units of work for a slice, with some room for what a guess can miss. */
  get units(): number {
    return Math.max(1, Math.floor(this.#perMs * this.#sliceMs * ROOM));
  }

  /** Work of another kind comes next, which may be slower: begins with less of it. */
  doubt(): void {
    this.#perMs = Math.max(this.#perMs / 4, Math.min(this.#perMs, this.#first));
  }

  /** Learns that `units` of work took `ms`, by a clock that may tick seldom. */
  learn(units: number, ms: number): void {
    // By a clock that tells nothing of a slice, several slices are measured as one.
    if (ms === 0 && units > this.#perMs) this.#isCoarse = true;
    if (this.#isCoarse) {
      this.#gathered += units;
      if (ms === 0) {
        if (this.#gathered > this.#perMs * COARSEST_MS) this.#speedUp(this.#gathered);
        return;
      }
      this.#grain = Math.min(this.#grain, ms);
      // What it took for sure, though the clock had been about to tick.
      const isSlow = units < (ms - this.#grain) * this.#perMs;
      const gathered = this.#gathered;
      this.#gathered = 0;
      if (isSlow) this.#adjust(units / ms, 0.7);
      else this.#adjust(gathered / ms, weightOf(this.#grain));
    } else if (ms < 0.2) this.#speedUp(2 * units);
    else {
      const measured = units / ms;
      // Slow down at once, speed up with care: one slice too long is worse than many short.
      this.#adjust(measured, measured < this.#perMs ? 0.7 : 0.3);
    }
  }

  #adjust(measured: number, weight: number): void {
    this.#perMs += (Math.min(measured, 4 * this.#perMs) - this.#perMs) * weight;
    this.#told = this.#perMs;
  }

  /**
   * Below the clock's resolution: as much as can be told is that there is room. Part of the slice may
   * have been over before, so that all of the units are hardly ever given. Nor need they have been used
   * up: what is told so goes only so far.
   */
  #speedUp(units: number): void {
    this.#gathered = 0;
    const most = 4 * Math.max(this.#told, this.#first);
    if (units > this.units) this.#perMs = Math.min(2 * this.#perMs, most);
  }
}
