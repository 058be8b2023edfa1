/** What handles of a store load when it is first called; as in `later.ts`, of the layers above that. */
import { part } from './parts.js';

/** Branches, made, listed and deleted. */
export const branching = () => part(() => import('./branches.js'));

/** Moves to commits of before. */
export const resetting = () => part(() => import('./reset.js'));

/** Merges of branches. */
export const merging = () => part(() => import('./merge.js'));

/** Exports. */
export const exporting = () => part(() => import('./transfer/export.js'));
