/** The page of `tests/encryption.spec.ts`. */
import type { Store } from 'hedgerow';

declare global {
  interface Window {
    /** The store that a test keeps from one `evaluate` to the next. */
    sealed: Store;
    sealing: typeof import('hedgerow/encryption');
  }
}

window.sealing = await import('hedgerow/encryption');
window.hedgerow = await import('hedgerow');
