/** Work on many rows, which lets the page run in between. */

import { turn } from '../../base/scheduler.js';
import { checkSignal } from '../../base/signal.js';

/** Rows between two looks at the clock, unless each of them runs code of the app. */
const CLOCK_ROWS = 64;
/** Milliseconds that the work may hold the thread: less than a slice, since a read may have had its share of it. */
const PART_MS = 4;

/** The clock that says when to interrupt work on rows. */
export class RowSlices {
  readonly #clockRows: number;
  #rows = 0;
  #startMs = performance.now();

  constructor(clockRows = CLOCK_ROWS) {
    this.#clockRows = clockRows;
  }

  /** Whether to call `rest` after a row. */
  get isDue(): boolean {
    this.#rows += 1;
    return this.#rows % this.#clockRows === 0 && performance.now() - this.#startMs >= PART_MS;
  }

  async rest(): Promise<void> {
    await turn();
    this.#startMs = performance.now();
  }
}

/** Replaces each member by what `make` makes of it. */
export async function eachInPlace(
  list: unknown[],
  make: (member: unknown) => unknown,
  signal?: AbortSignal,
): Promise<void> {
  let startMs = performance.now();
  for (let from = 0; from < list.length; from += CLOCK_ROWS) {
    const end = Math.min(from + CLOCK_ROWS, list.length);
    for (let at = from; at < end; at++) {
      const made = make(list[at]);
      // Most rows are kept as they are.
      if (made !== list[at]) list[at] = made;
    }
    if (performance.now() - startMs < PART_MS) continue;
    await turn();
    checkSignal(signal);
    startMs = performance.now();
  }
}
