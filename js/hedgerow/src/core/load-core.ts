/** Loads the code of the core, which the reader answers for until then. */
import { part } from '../base/dynamic-import.js';

/** Loads the code that starts instances of the core. */
export const loadCore = () => part(() => import('./instantiate-core.js'));
