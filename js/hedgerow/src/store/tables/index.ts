/** `hedgerow/tables`: tables with types over the prefixes of a store. */

export { type Define, table } from './define.js';
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
} from './handles.js';
export type { LoadOptions } from './load.js';
export type { MigrationTrial } from './migrate/bring-forward.js';
export type { MigrationCalls } from './migrate/migrations.js';
export type { MigrationProgress } from './migrate/migrator.js';
export type { FailedRow } from './migrate/old-rows.js';
export type { TableOptions } from './open-tables.js';
export type { ReadOptions } from './query.js';
export type { RowChange } from './row-changes.js';
export type { SchemaIssue, SchemaResult, StandardSchema } from './schema.js';
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
export type { Codec } from './values/codec.js';
export { file, StoredFile } from './values/file.js';
