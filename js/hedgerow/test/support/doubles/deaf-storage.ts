/** Storage whose handles do not hear of each other: each one sees another's commits only when it looks. */
import { memory } from '../../../src/index.js';
import type { Storage } from '../../../src/storage/segment-store.js';

/** Wraps `inner`. */
export function deaf(inner: Storage = memory()): Storage {
  return {
    ...inner,
    open: (name, options) => inner.open(name, { ...options, onMoved: undefined }),
  };
}
