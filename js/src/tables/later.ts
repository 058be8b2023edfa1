/** Parts of tables that not every app needs: they are loaded when its tables are opened, or at their first use. */

import { part } from '../base/parts.js';

export const loadMigrations = () => part(() => import('./migrate/migrations.js'));
export const loadCheckedRows = () => part(() => import('./checked-rows.js'));
export const loadChoosing = () => part(() => import('./choosing.js'));
export const loadLoading = () => part(() => import('./load.js'));
export const loadSchemas = () => part(() => import('./schema.js'));
export const loadStructured = () => part(() => import('./structured-rows.js'));
