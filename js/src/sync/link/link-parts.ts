/** Parts that pulls and pushes load at need. */

import { part } from '../../base/parts.js';

/** Only some pushes make one. */
export const checkpoints = () => part(() => import('./checkpoint.js'));
/** For a checkpoint, and after a longer absence. */
export const histories = () => part(() => import('./head-history.js'));
