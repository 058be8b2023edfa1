/**
 * One budget of memory for what all stores of a page have read. A store may hold what the others leave of it, and at
 * least its equal part: so a large store has nearly all of it beside small ones.
 */

/** The cache of a store. */
export interface Sharer {
  /** Fits the cache to so many bytes; returns those that it holds then. */
  fitCache(bytes: number): number;
}

/** For each GiB of the device's memory, which browsers that tell it round. */
const BYTES_PER_GIB = 16 << 20;
const LEAST_GIB = 1;
const MOST_GIB = 4;

/** The caches that share the budget, and the bytes that each held when it was last asked. */
const held = new Map<Sharer, number>();

function budget(): number {
  const { navigator } = globalThis as { navigator?: { deviceMemory?: number } };
  return (
    Math.min(Math.max(navigator?.deviceMemory ?? MOST_GIB, LEAST_GIB), MOST_GIB) * BYTES_PER_GIB
  );
}

/** Shares the budget anew: this cache is new, or has grown. */
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

/** Leaves what it held to the others. */
export function leave(cache: Sharer): void {
  held.delete(cache);
}
