/** Parts that pulls and pushes load at need. */

import { part } from '../../base/dynamic-import.js';

/** Loads the maker of checkpoints, which few pushes need. */
export const checkpoints = () => part(() => import('./make-checkpoint.js'));
/** Loads the histories, for a checkpoint and after a longer absence. */
export const histories = () => part(() => import('./push-history.js'));
