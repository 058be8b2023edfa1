/** The adapter that keeps all bytes in memory: for Node, for tests, and for scratch data. */

import { part } from '../base/dynamic-import.js';
import { lateLocks } from '../base/late-locks.js';
import type { World } from './memory-segment-store.js';
import type { Storage } from './segment-store.js';

/** Loads the code of open stores. */
export const loadMemory = () => part(() => import('./memory-segment-store.js'));

/**
 * Keeps stores in memory as long as the returned value lives: a store survives `close`, and all handles of its name
 * that this value opened share it. They follow each other's commits, in later turns.
 */
export function memory(): Storage {
  const worlds = new Map<string, World>();
  return {
    lifetime: 'session',
    locks: lateLocks(),
    // Load the code first: from here on, no call waits.
    open: async (name, options) => (await loadMemory()).openWorld(worlds, name, options),
    async destroy(name) {
      const world = worlds.get(name);
      worlds.delete(name);
      if (world === undefined) return;
      world.destroyed = true;
      for (const { onGone } of [...world.handles]) onGone();
      world.handles.clear();
    },
  };
}
