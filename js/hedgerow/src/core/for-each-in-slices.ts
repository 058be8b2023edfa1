/** Spreads work on many items over slices. */
import { turn } from '../base/slice-queue.js';
import type { Host } from './operation-host.js';

/** Does the work of each item, in slices. */
export async function forEachInSlices<T>(
  { sliceMs }: Host,
  items: Iterable<T>,
  work: (item: T) => unknown,
): Promise<void> {
  let startMs = performance.now();
  for (const item of items) {
    await work(item);
    // The other half is for the work before and after, and for the garbage of so many items.
    if (performance.now() - startMs < sliceMs / 2) continue;
    await turn();
    startMs = performance.now();
  }
}
