/**
 * Runs before each suite in a browser. What a test leaves open is closed after it: an engine keeps a store with an
 * open connection for good, and the memory of its core with it.
 */
import { afterAll, afterEach, beforeEach, expect } from 'vitest';
import { aroundSeeds } from '../support/property.js';
import { sameBytes } from '../support/same-bytes.js';
import { deleteWorlds, worldCount } from './memory.js';

expect.addEqualityTesters([sameBytes]);

// Where Node prints what nobody waits for, a browser raises it, and Vitest takes it for a failure of its own.
globalThis.reportError = (error) => console.error(error);

/** Of tests that run side by side nobody knows which made a store: all of them stay until the suite ends. */
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
