/** Loads the rest of the code when an import needs it: most calls have no import to do. */

import { part } from '../base/parts.js';

export const loadImport = () => part(() => import('./import-parts.js'));
