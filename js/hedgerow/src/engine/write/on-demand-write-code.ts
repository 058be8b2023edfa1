/** Loads the code of writes at the first one. */
import { partOnce } from '../../base/dynamic-import.js';

/** Loads the code that commits rows. */
export const loadWrites = partOnce(() => import('./on-demand-write-bundle.js'));
