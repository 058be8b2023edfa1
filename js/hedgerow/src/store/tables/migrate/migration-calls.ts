/** The callbacks of migrations, and their checks. */

import { fn, type OptionsOf } from '../../../base/check-options.js';
import type { MigrationProgress } from './migrator.js';

export const MIGRATION_CALLS = {
  /** Called as rows are brought forward. */
  onMigration: fn<(progress: MigrationProgress) => void>(),
  /** Called once, when rows are found that a newer version of the app has written. */
  onOutdated: fn<(found: { readonly table: string; readonly version: number }) => void>(),
};

/** Callbacks of the app. */
export interface MigrationCalls extends OptionsOf<typeof MIGRATION_CALLS> {}
