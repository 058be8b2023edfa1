/** Loads the code of writes at the first one. */
import { part } from '../../base/dynamic-import.js';

/** Loads the code that commits rows. */
export const loadWrites = () => part(() => import('./on-demand-write-bundle.js'));
