/** Loads the rest of the code when an import needs it: most calls have no import to do. */

import { part } from 'hedgerow/kit';

export const loadImport = () => part(() => import('./on-demand-import-bundle.js'));
