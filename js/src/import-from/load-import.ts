/** What an import needs that is under way: most calls find that there is nothing to import. */

import { part } from '../base/parts.js';

export const loadImport = () => part(() => import('./import-parts.js'));
