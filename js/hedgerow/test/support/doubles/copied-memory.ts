/** Memory with the present stores of another one: stores that take long to make are made once. */
import { localLocks } from '../../../src/base/local-locks.js';
import { openWorld, World } from '../../../src/storage/memory-segment-store.js';
import type { Storage } from '../../../src/storage/segment-store.js';

/** Storage in memory that can be copied. */
export interface CopiedMemory extends Storage {
  copy(): CopiedMemory;
}

export function copiedMemory(worlds = new Map<string, World>()): CopiedMemory {
  return {
    lifetime: 'session',
    locks: localLocks(),
    open: async (name, options) => openWorld(worlds, name, options),
    async destroy(name) {
      worlds.delete(name);
    },
    copy() {
      const copies = [...worlds].map(([name, world]) => [name, copyOf(world)] as const);
      return copiedMemory(new Map(copies));
    },
  };
}

/** Segments never change, so copies share them. */
function copyOf(world: World): World {
  const copy = new World();
  for (const [id, segment] of world.segments) copy.segments.set(id, segment);
  for (const [name, ref] of world.refs) copy.refs.set(name, ref);
  for (const [name, moves] of world.history) copy.history.set(name, moves);
  copy.lastReserved = world.lastReserved;
  return copy;
}
