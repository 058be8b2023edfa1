/** Storage that holds one call until the test releases it, so that the test can look at the store in the meantime. */
import type { SegmentStore, Storage, WriteBatch } from '../../../src/storage/segment-store.js';

export interface StuckStorage extends Storage {
  /** How many calls were made to its stores. */
  readonly calls: number;
  /** Whether a call waits, and whether it moves a ref. */
  readonly stuck: 'no' | 'yes' | 'commit';
  /** How many calls that move a ref are under way. */
  readonly committing: number;
  /** Makes the `nth` call from now on wait, counted from 1. */
  stickAt(nth: number): void;
  /** Lets all calls continue. */
  release(): void;
}

/** Wraps `inner`. */
export function stuckable(inner: Storage): StuckStorage {
  let calls = 0;
  let at = Number.POSITIVE_INFINITY;
  let stuck: StuckStorage['stuck'] = 'no';
  let committing = 0;
  let release = () => {};
  const isCommit = (batch?: WriteBatch) => batch?.move !== undefined || batch?.also !== undefined;
  const through = async <T>(run: () => Promise<T>, batch?: WriteBatch): Promise<T> => {
    if (++calls === at) {
      stuck = isCommit(batch) ? 'commit' : 'yes';
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      stuck = 'no';
    }
    if (!isCommit(batch)) return run();
    committing += 1;
    return run().finally(() => {
      committing -= 1;
    });
  };
  const wrapped = (store: SegmentStore): SegmentStore => ({
    load: (known, since) => through(() => store.load(known, since)),
    reserve: () => through(() => store.reserve()),
    read: (ids) => through(() => store.read(ids)),
    write: (batch) => through(() => store.write(batch), batch),
    history: (name) => through(() => store.history(name)),
    delete: (...args) => through(() => store.delete(...args)),
    close: () => store.close(),
  });
  return {
    ...inner,
    open: async (name, options) => wrapped(await inner.open(name, options)),
    destroy: (name) => inner.destroy(name),
    get calls() {
      return calls;
    },
    get stuck() {
      return stuck;
    },
    get committing() {
      return committing;
    },
    stickAt(nth) {
      at = calls + nth;
    },
    release() {
      at = Number.POSITIVE_INFINITY;
      release();
    },
  };
}
