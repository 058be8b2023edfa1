/** Parts of tables that not every app needs: they are loaded when its tables are opened, or at their first use. */

import { part } from '../../base/parts.js';

export const loadMigrations = () => part(() => import('./migrate/migrations.js'));
export const loadCheckedRows = () => part(() => import('./checked-rows.js'));
export const loadMatch = () => part(() => import('./match.js'));
export const loadRowsIn = () => part(() => import('./rows-in.js'));
export const loadSchemas = () => part(() => import('./schema.js'));
export const loadStructured = () => part(() => import('./structured-rows.js'));
