/** Parts of tables that not every app needs: they are loaded when its tables are opened, or at their first use. */

import { part } from '../../base/dynamic-import.js';

export const loadMigrations = () => part(() => import('./migrate/migration-registry.js'));
export const loadCheckedRows = () => part(() => import('./checked-json-row-format.js'));
export const loadMatch = () => part(() => import('./match-row.js'));
export const loadRowsIn = () => part(() => import('./rows-from-bytes.js'));
export const loadSchemas = () => part(() => import('./standard-schema.js'));
export const loadStructured = () => part(() => import('./structured-row-format.js'));

/** Loads the code that opens sources of rows. */
export const loadSources = () => part(() => import('../../engine/write/row-source.js'));
