/** Parts that pulls and pushes load at need. */

import { part } from '../../base/parts.js';

/** Loads the maker of checkpoints, which few pushes need. */
export const checkpoints = () => part(() => import('./checkpoint.js'));
/** Loads the histories, for a checkpoint and after a longer absence. */
export const histories = () => part(() => import('./head-history.js'));
