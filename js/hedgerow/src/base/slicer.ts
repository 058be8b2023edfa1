import { turn } from './slice-queue.js';

/** Milliseconds for which a loop holds the thread at a time: less than a slice, since other work of the turn adds to it. */
const PART_MS = 4;

/** Divides the work of a loop into parts, between which the page runs: `if (slicer.step()) await slicer.rest();`. */
export class Slicer {
  readonly #partMs: number;
  readonly #clockSteps: number;
  #steps = 0;
  #startMs = performance.now();

  /** Parts take `partMs`; the clock is read every `clockSteps` steps. */
  constructor({ partMs = PART_MS, clockSteps = 1 } = {}) {
    this.#partMs = partMs;
    this.#clockSteps = clockSteps;
  }

  /** Begins a part: work of others has taken the time before. */
  begin(): void {
    this.#startMs = performance.now();
  }

  /** Counts a step; returns whether the part is over. */
  step(): boolean {
    this.#steps += 1;
    return (
      this.#steps % this.#clockSteps === 0 && performance.now() - this.#startMs >= this.#partMs
    );
  }

  /** Lets the page run, and begins a part. */
  async rest(): Promise<void> {
    await turn();
    this.begin();
  }
}
