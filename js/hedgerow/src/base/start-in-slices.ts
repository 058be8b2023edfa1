/** Begins many waits at once, in slices. */
import { turn } from './slice-queue.js';

/** How long one slice begins work, in milliseconds. */
const BEGINNING_MS = 4;

/** Begins to work on each item, with turns of the event loop in between, and waits for all. */
export async function startInSlices<T, R>(
  items: readonly T[],
  work: (item: T, at: number) => Promise<R>,
): Promise<R[]> {
  const working: Promise<R>[] = [];
  let startMs = performance.now();
  for (const [at, item] of items.entries()) {
    if (performance.now() - startMs > BEGINNING_MS) {
      await turn();
      startMs = performance.now();
    }
    working.push(work(item, at));
  }
  return Promise.all(working);
}
