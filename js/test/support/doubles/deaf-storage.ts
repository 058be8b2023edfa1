/** Storage whose handles do not hear of each other: each finds out what the others commit when it looks. */
import { memory } from '../../../src/index.js';
import type { Storage } from '../../../src/storage/segment-store.js';

/** Wraps `inner`. */
export function deaf(inner: Storage = memory()): Storage {
  return {
    ...inner,
    open: (name, options) => inner.open(name, { ...options, onMoved: undefined }),
  };
}
