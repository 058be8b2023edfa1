/** The parts of higher layers that an open store, and `importStore`, load at their first call; as in `later.ts`. */
import { part } from '../base/parts.js';

/** Loads branches, merges, moves to earlier commits, exports and imports, in one file. */
export const storeParts = () => part(() => import('./store-parts.js'));

/** Loads watched counts. */
export const loadCounts = () => part(() => import('../engine/watch/count-gatherer.js'));

/** Loads sync. */
export const syncing = () => part(() => import('./store-link.js'));
