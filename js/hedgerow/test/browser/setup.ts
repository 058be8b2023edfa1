/**
 * Runs before each suite in a browser. It closes the open stores of a test after it: an engine keeps a store with an
 * open connection for good, and the memory of its core with it.
 */
import { afterAll, afterEach, beforeEach, expect } from 'vitest';
import { aroundSeeds } from '../support/property.js';
import { sameBytes } from '../support/same-bytes.js';
import { deleteWorlds, worldCount } from './memory.js';

expect.addEqualityTesters([sameBytes]);

// Node prints such an error; a browser raises it, and Vitest counts it as a failure of its own.
globalThis.reportError = (error) => console.error(error);

/** The stores of concurrent tests have no known owner: all of them stay until the suite ends. */
let isConcurrent = false;
let kept = 0;
beforeEach(({ task }) => {
  isConcurrent = task.concurrent === true;
  kept = worldCount();
});
afterEach(() => (isConcurrent ? undefined : deleteWorlds(kept)));
afterAll(() => deleteWorlds(0));

aroundSeeds.push(() => {
  const before = worldCount();
  return async () => (isConcurrent ? undefined : deleteWorlds(before));
});
