/** All parts of tables that are loaded later, for `preload`. No other file imports this one, as bundlers want it. */

import {
  loadCheckedRows,
  loadMatch,
  loadMigrations,
  loadRowsIn,
  loadSchemas,
  loadStructured,
} from './on-demand-table-code.js';

export const loadTableParts = () =>
  Promise.all([
    loadCheckedRows(),
    loadMatch(),
    loadMigrations(),
    loadRowsIn(),
    loadSchemas(),
    loadStructured(),
  ]);
