/**
 * `memory()` in the tests that run in a browser: it also makes a world of its own, but its stores are databases of the
 * engine's IndexedDB. `setup.ts` deletes them.
 */
import { localLocks } from '../../src/base/local-locks.js';
import { idb } from '../../src/storage/idb/idb.js';
import type { SegmentStore, Storage } from '../../src/storage/segment-store.js';

/** The stores of each world, by their names for `idb()`. */
const worlds: Set<string>[] = [];

/** The largest number of open connections. */
const MAX_CONNECTIONS = 16;
const connected: WeakRef<SegmentStore>[] = [];

/**
 * Limits open connections: a store that its test has dropped cannot be collected while its connection is open, and
 * Chromium has no room for hundreds of cores. The next call opens a closed connection again.
 */
function limitConnections(opened: SegmentStore): void {
  connected.push(new WeakRef(opened));
  if (connected.length > MAX_CONNECTIONS) connected.shift()?.deref()?.rest?.();
}

export function memory(): Storage {
  const inner = idb();
  const world = crypto.randomUUID();
  const pathOf = (name: string) => `${world}/${name}`;
  const paths = new Set<string>();
  worlds.push(paths);
  const listeners = new Map<SegmentStore, { readonly path: string; onMoved(): void }>();
  return {
    locks: localLocks(),
    async open(name, options = {}) {
      const path = pathOf(name);
      paths.add(path);
      const store = await inner.open(path, options);
      limitConnections(store);
      const [write, close] = [store.write.bind(store), store.close.bind(store)];
      listeners.set(store, { path, onMoved: options.onMoved ?? (() => {}) });
      store.write = async (batch) => {
        const isDone = await write(batch);
        const isMove = batch.move !== undefined || (batch.also ?? []).length > 0;
        if (!isDone || !isMove) return isDone;
        for (const [other, { path: its, onMoved }] of listeners) {
          if (other !== store && its === path) queueMicrotask(onMoved);
        }
        return true;
      };
      store.close = () => {
        listeners.delete(store);
        return close();
      };
      return store;
    },
    destroy: (name) => inner.destroy(pathOf(name)),
  };
}

/** Returns the number of worlds. */
export function worldCount(): number {
  return worlds.length;
}

/** Deletes all worlds but the first `kept`. This closes handles that are still open. */
export async function deleteWorlds(kept: number): Promise<void> {
  const paths = worlds.splice(kept).flatMap((stores) => [...stores]);
  await Promise.all(paths.map((path) => idb().destroy(path)));
}

/** Has no later part to load. */
export async function loadMemory(): Promise<void> {}
