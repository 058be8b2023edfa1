/**
 * One budget of memory for the reads of all stores of a page. A store may hold what the others leave, and at least its
 * equal part: so a large store next to small ones has nearly all of it.
 */

/** The cache of a store. */
export interface Sharer {
  /** Fits the cache to `bytes`; returns the number of bytes that it holds then. */
  fitCache(bytes: number): number;
}

/** The budget for each GiB of the device's memory, which browsers round or do not report. */
const BYTES_PER_GIB = 16 << 20;
const LEAST_GIB = 1;
const MOST_GIB = 4;

/** The caches that share the budget, and the bytes that each held at its last `fitCache`. */
const held = new Map<Sharer, number>();

function budget(): number {
  const { navigator } = globalThis as { navigator?: { deviceMemory?: number } };
  return (
    Math.min(Math.max(navigator?.deviceMemory ?? MOST_GIB, LEAST_GIB), MOST_GIB) * BYTES_PER_GIB
  );
}

/** Shares the budget again: this cache is new, or has grown. */
export function rebalance(grown: Sharer): void {
  if (!held.has(grown)) held.set(grown, 0);
  const all = budget();
  let sum = 0;
  for (const bytes of held.values()) sum += bytes;
  for (const cache of new Set([grown, ...held.keys()])) {
    const others = sum - (held.get(cache) as number);
    const bytes = cache.fitCache(Math.floor(Math.max(all / held.size, all - others)));
    held.set(cache, bytes);
    sum = others + bytes;
  }
}

/** Leaves the part of a cache to the others. */
export function leave(cache: Sharer): void {
  held.delete(cache);
}
