/** What links load at need. */

import { part } from '../base/parts.js';

export const checkpoints = () => part(() => import('./checkpoint.js'));
export const histories = () => part(() => import('./history.js'));
export const mending = () => part(() => import('./mending.js'));
export const probing = () => part(() => import('../remote/probe.js'));
export const collecting = () => part(() => import('./collect-call.js'));

/** Loads all of it, for `preload`. */
export const loadParts = () =>
  Promise.all([checkpoints(), histories(), mending(), probing(), collecting()]);
