// Makes numbers from a seed, so that a run can be repeated.

/** Returns a source of numbers from 0 to below 1 (mulberry32). */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a whole number from 0 to below `limit`. */
export const below = (random, limit) => Math.floor(random() * limit);
