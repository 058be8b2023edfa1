/** Storage that records writes, and lets a test change the results of reads. */
import {
  cutSegment,
  type SegmentRecord,
  type SegmentStore,
  type Storage,
  type StoreContents,
  segmentOf,
  type WriteBatch,
} from '../../../src/storage/segment-store.js';

export interface Hooks {
  /** Called before each write; may delay it or throw. */
  write?(batch: WriteBatch): void | Promise<void>;
  /** Called after each write that was not refused. */
  written?(): void;
  /** Called before each deletion; may delay it. */
  delete?(): Promise<void>;
  /** Changes or delays the result of a load. */
  load?(loaded: StoreContents): StoreContents | Promise<StoreContents>;
  /** Changes a segment that is read. */
  read?(id: number, segmentBytes: Uint8Array): Uint8Array | undefined;
}

export interface WatchedStorage extends Storage {
  readonly hooks: Hooks;
  /** The segments that are stored, in the order in which they were written. */
  readonly stored: Map<number, SegmentRecord>;
  /** The written batches, without refused ones. */
  readonly written: WriteBatch[];
  closed: number;
}

/** Wraps `inner`; without hooks it behaves like `inner`. */
export function watched(inner: Storage, hooks: Hooks = {}): WatchedStorage {
  const storage: WatchedStorage = {
    ...inner,
    hooks,
    stored: new Map(),
    written: [],
    closed: 0,
    open: async (name, options) => wrap(await inner.open(name, options), storage),
    destroy: (name) => inner.destroy(name),
  };
  return storage;
}

function wrap(store: SegmentStore, storage: WatchedStorage): SegmentStore {
  const { hooks, stored, written } = storage;
  return {
    async load(known, since) {
      const loaded = await store.load(known, since);
      return (await hooks.load?.(loaded)) ?? loaded;
    },
    reserve: () => store.reserve(),
    async read(wanted) {
      const { read } = hooks;
      if (read === undefined) return store.read(wanted);
      const ids = wanted.map(segmentOf);
      const found = await store.read(ids);
      return found.map((bytes, at) => {
        const changed = bytes && read(ids[at]!, bytes);
        return changed && cutSegment(wanted[at]!, changed);
      });
    },
    async write(batch) {
      await hooks.write?.(batch);
      const done = await store.write(batch);
      if (done) {
        written.push(batch);
        for (const segment of batch.segments) stored.set(segment.id, segment);
        hooks.written?.();
      }
      return done;
    },
    history: (name) => store.history(name),
    async delete(ids, fence) {
      await hooks.delete?.();
      const done = await store.delete(ids, fence);
      if (done) for (const id of ids) stored.delete(id);
      return done;
    },
    async close() {
      storage.closed++;
      await store.close();
    },
  };
}
