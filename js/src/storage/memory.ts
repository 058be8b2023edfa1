/** The adapter that keeps all bytes in memory: for Node, for tests, and for scratch data. */

import { HedgerowError } from '../base/errors.js';
import { localLocks } from '../base/locks.js';
import { part } from '../base/parts.js';
import type { World } from './memory-handle.js';
import type { Storage } from './segment-store.js';

/** Loads the code of open stores. */
export const loadMemory = () => part(() => import('./memory-handle.js'));

/**
 * Keeps stores in memory for as long as the returned value lives: a store survives
 * `close`, and is shared by all handles of its name that this value opened. They follow
 * each other's commits, in a turn of their own.
 */
export function memory(): Storage {
  const worlds = new Map<string, World>();
  return {
    lifetime: 'session',
    locks: localLocks(),
    async open(name, { mustExist = false, onGone = () => {}, onMoved = () => {} } = {}) {
      // Loaded first: from here on, nothing waits.
      const { MemorySegmentStore, World } = await loadMemory();
      let world = worlds.get(name);
      if (world === undefined) {
        if (mustExist) throw new HedgerowError('store-not-found', `there is no store ${name}`);
        world = new World();
        worlds.set(name, world);
      }
      return new MemorySegmentStore(world, onGone, onMoved);
    },
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
