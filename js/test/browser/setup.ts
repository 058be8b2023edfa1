/**
 * Runs before each suite in a browser. What a test leaves open is closed after it: an engine keeps a store with an
 * open connection for good, and the memory of its core with it.
 */
import { afterAll, afterEach, beforeEach } from 'vitest';
import { deleteWorlds, worldCount } from './memory.js';

// Where Node prints what nobody waits for, a browser raises it, and Vitest takes it for a failure of its own.
globalThis.reportError = (error) => console.error(error);

let kept = 0;
beforeEach(() => {
  kept = worldCount();
});
afterEach(() => deleteWorlds(kept));
afterAll(() => deleteWorlds(0));
