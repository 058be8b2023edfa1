/** Opens a store with tables. */

import { optionsOf } from '../../base/check-options.js';
import { isDevelopment } from '../../base/development.js';
import type { OpenOptions } from '../open.js';
import type { Store } from '../store.js';
import { type Handle, TableSet } from './attach.js';
import { MIGRATION_CALLS, type MigrationCalls } from './migrate/migration-calls.js';
import {
  loadCheckedRows,
  loadMigrations,
  loadSchemas,
  loadStructured,
} from './on-demand-table-code.js';
import { JSON_ROWS } from './row-format.js';
import type { TableDefinition, Tables } from './types.js';

/** A function that opens a store, and calls `onHandle` for each of its handles. */
export type StoreOpener = (
  name: string,
  options: OpenOptions,
  onHandle: (handle: object, inner?: unknown) => void,
) => Promise<Store>;

/** Options of `open` for tables. */
export interface TableOptions<T extends Tables = Tables> extends MigrationCalls {
  /** Tables by the names under which handles have them. */
  readonly tables: T;
}

/** Opens a store whose handles have these tables. */
export async function openTables(
  name: string,
  given: OpenOptions & TableOptions,
  open: StoreOpener,
): Promise<Store> {
  const { tables, onMigration, onOutdated, ...options } = given;
  const calls = optionsOf('open', { onMigration, onOutdated }, MIGRATION_CALLS);
  const definitions = Object.values(tables).map(
    (one) => one?.definition as TableDefinition<object>,
  );
  // In parallel: the parts that tables need are loaded before the store is opened.
  const [checked, structured, schemas, migrating] = await Promise.all([
    isDevelopment ? loadCheckedRows() : undefined,
    definitions.some((one) => one?.values === 'structured') ? loadStructured() : undefined,
    definitions.some((one) => one?.schema !== undefined) ? loadSchemas() : undefined,
    definitions.some((one) => Number(one?.version) > 1) || onOutdated
      ? loadMigrations()
      : undefined,
  ]);
  const json = checked?.CHECKED_ROWS ?? JSON_ROWS;
  const set = new TableSet(tables, {
    ...{ json, structured: structured?.STRUCTURED_ROWS, schemas, migrations: migrating },
  });
  const migrations = migrating && new migrating.Migrations(set.specs, calls);
  const indexes = set.indexes(options.indexes);
  const needsIndexes = Object.keys(indexes).length > 0 || Object(options.advanced).dropOtherIndexes;
  const wanted = needsIndexes ? { ...options, indexes } : options;
  const onHandle = (handle: object, inner?: unknown) => {
    migrations?.inner.set(handle, inner);
    set.attach(handle as Handle, migrations, inner);
  };
  const db = await open(name, wanted, onHandle);
  if (set.fault === undefined) return db;
  await db.close();
  throw set.fault;
}
