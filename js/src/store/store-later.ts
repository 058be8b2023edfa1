/** What an open store, and `importStore`, load when it is first called; as in `later.ts`, of the layers above. */
import { part } from '../base/parts.js';

/** Branches, merges, moves to earlier commits, exports and imports, in one file. */
export const storeParts = () => part(() => import('./store-parts.js'));

/** Loads what watched counts are made by. */
export const loadCounts = () => part(() => import('../engine/watch/count-gatherer.js'));

/** Loads sync. */
export const syncing = () => part(() => import('./store-link.js'));
