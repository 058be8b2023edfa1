/** `hedgerow/tables`: tables with types over the prefixes of a store. */

export type { LoadOptions } from './bulk-load-rows.js';
export { type Define, table } from './define.js';
export type { MigrationTrial } from './migrate/migrate-rows-in-batches.js';
export type { MigrationCalls } from './migrate/migration-registry.js';
export type { MigrationProgress } from './migrate/migrator.js';
export type { FailedRow } from './migrate/old-rows.js';
export type { TableOptions } from './open-tables.js';
export type { ReadOptions } from './query.js';
export type { RowChange } from './row-changes.js';
export type { SchemaIssue, SchemaResult, StandardSchema } from './standard-schema.js';
export type {
  Query,
  RowUpdate,
  Showable,
  SnapshotQuery,
  SnapshotWith,
  StoreWith,
  TableHandle,
  TableReader,
  TransactionQuery,
  TransactionTable,
  TransactionWith,
} from './table-handle-types.js';
export type {
  AnyColumn,
  AnyTable,
  Bounds,
  Column,
  ColumnValue,
  Condition,
  Conditions,
  IndexColumn,
  IndexName,
  IndexOf,
  InputOf,
  KeyOf,
  KeyPart,
  RowOf,
  Table,
  TableDefinition,
  Tables,
  Values,
} from './types.js';
export type { Codec } from './values/app-codec-types.js';
export { file, StoredFile } from './values/stored-file.js';
