/** Loads the code of writes at the first one. */
import { partOnce } from '../../base/dynamic-import.js';

const importWrites = () => import('./on-demand-write-bundle.js');

/** Loads the code that commits rows. */
export const loadWrites = () => partOnce(importWrites);
