/** The parts of higher layers that an open store, and `importStore`, load at their first call; as in `on-demand-code.ts`. */
import { part } from '../base/dynamic-import.js';

/** Loads branches, merges, moves to earlier commits, exports and imports, in one file. */
export const storeParts = () => part(() => import('./on-demand-store-bundle.js'));

/** Loads sync. */
export const syncing = () => part(() => import('./open-sync-link.js'));
