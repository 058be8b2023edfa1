import { checkSignal } from './abort-signal.js';
import { Slicer } from './slicer.js';

/** Members between two looks at the clock. */
const CLOCK_ROWS = 64;

/** Replaces each member by what `make` makes of it, and lets the page run in between. */
export async function mapInSlices(
  list: unknown[],
  make: (member: unknown) => unknown,
  signal?: AbortSignal,
): Promise<void> {
  const slicer = new Slicer();
  for (let from = 0; from < list.length; from += CLOCK_ROWS) {
    const end = Math.min(from + CLOCK_ROWS, list.length);
    for (let at = from; at < end; at++) {
      const made = make(list[at]);
      // Most rows are kept as they are.
      if (made !== list[at]) list[at] = made;
    }
    if (!slicer.step()) continue;
    await slicer.rest();
    checkSignal(signal);
  }
}
