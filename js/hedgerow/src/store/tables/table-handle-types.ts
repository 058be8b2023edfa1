/** Tables as handles have them: the calls, with the types of their rows, keys and columns. */

import type { ByteSource } from '../../base/byte-source.js';
import type { Rows } from '../../engine/read/scan.js';
import type { CommitResult } from '../../engine/transaction/run.js';
import type { Transaction } from '../../engine/transaction/transaction.js';
import type {
  CommitOptions,
  TransactionOptions,
} from '../../engine/transaction/transaction-options.js';
import type { WatchOptions } from '../../engine/watch/watch-options.js';
import type { LoadOptions } from '../../engine/write/bulk-options.js';
import type { WriteResult } from '../../engine/write/ingest.js';
import type { PatchOperation } from '../../engine/write/patch.js';
import type { Source } from '../../engine/write/source-kind.js';
import type { Connection } from '../../sync/link/connection.js';
import type { Transport } from '../../sync/link/transport.js';
import type { Snapshot } from '../snapshot.js';
import type { Store } from '../store.js';
import type { StoreBranches } from '../store-branches.js';
import type { StoreHistory } from '../store-history.js';
import type { MigrationTrial } from './migrate/migrate-rows-in-batches.js';
import type { MigrationProgress } from './migrate/migrator.js';
import type { ReadOptions } from './query.js';
import type { RowChange } from './row-changes.js';
import type {
  AnyColumn,
  AnyTable,
  ComparisonValue,
  Condition,
  Conditions,
  IndexName,
  KeyOf,
  MemberOf,
  Table,
  Tables,
} from './types.js';

/** An argument of `live`. */
export interface Showable<Row, Db = Store> {
  /** Returns the source for `live`. */
  source(): {
    readonly db: Db;
    readonly options: object;
    rowOf(key: string, value: unknown): Row;
    whenReady?(): Promise<unknown>;
  };
}

/** Calls that begin, or narrow, a query. */
interface NarrowCalls<Row, Definition, Narrowed> {
  /**
   * Selects rows that fulfil conditions: `{ status: 'open', modified: { gte: t } }`. One column can have bounds. A
   * condition that is `undefined` is refused; no row fulfils a bound that is an empty text.
   */
  where(
    conditions: {
      // `Conditions` written out, so that TypeScript shows the columns in errors.
      readonly [Column in AnyColumn<Row, Definition>]?: Condition<MemberOf<Row, Column>>;
    },
  ): Narrowed;
  /** Selects rows whose column is at least `from`, and below `to`. */
  between<Column extends AnyColumn<Row, Definition>>(
    column: Column,
    from: NonNullable<ComparisonValue<MemberOf<Row, Column>>>,
    to: NonNullable<ComparisonValue<MemberOf<Row, Column>>>,
  ): Narrowed;
  /** Orders the rows by one column or several. */
  orderBy(
    columns: AnyColumn<Row, Definition> | readonly AnyColumn<Row, Definition>[],
    direction?: 'asc' | 'desc',
  ): Narrowed;
}

/** Calls that read the rows of a query, or of a table in the order of its keys. */
interface RowReadCalls<Row> extends AsyncIterable<Row> {
  /** Reads all rows. */
  toArray(options?: ReadOptions): Promise<Row[]>;
  /** Returns the row with a number, from 0. Costs O(log n). */
  at(n: number, options?: ReadOptions): Promise<Row | undefined>;
  /** Counts the rows. Costs O(log n), except with `after`, `filter` or `scan`. */
  count(options?: ReadOptions): Promise<number>;
}

/** The calls of a query, wherever it is read. A query reads no rows before a call that returns them. */
export interface QueryCalls<Row, Definition, Asked>
  extends NarrowCalls<Row, Definition, Asked>,
    RowReadCalls<Row> {
  /** Reverses the order. */
  reverse(): Asked;
  /** Takes at most `count` rows. */
  limit(count: number): Asked;
  /** Leaves out the first `count` rows. Costs O(log n). */
  offset(count: number): Asked;
  /** Begins right after a row: the last row of the previous page. It need not be stored any more. */
  after(row: Row): Asked;
  /** Reads by this index. */
  using(index: IndexName<Definition>): Asked;
  /** Also reads unwanted rows if no index separates them, and leaves them out. */
  scan(): Asked;
  /** Returns the first row, or `undefined`. */
  first(options?: ReadOptions): Promise<Row | undefined>;
}

interface FilterCalls<Row, Asked> {
  /** Leaves out rows for which `test` returns a false value, after they were read. */
  filter(test: (row: Row) => unknown): Asked;
}

/** A query of a snapshot. */
export interface SnapshotQuery<Row, Definition = unknown>
  extends QueryCalls<Row, Definition, SnapshotQuery<Row, Definition>>,
    FilterCalls<Row, SnapshotQuery<Row, Definition>> {}

/** A query in a transaction. */
export interface TransactionQuery<Row, Definition = unknown>
  extends QueryCalls<Row, Definition, TransactionQuery<Row, Definition>>,
    FilterCalls<Row, TransactionQuery<Row, Definition>>,
    DeleteCalls<number> {}

/** Rows of a table that fulfil conditions, in an order. A query reads no rows before a call that returns them. */
export interface Query<Row, Definition = unknown>
  extends QueryCalls<Row, Definition, Query<Row, Definition>>,
    FilterCalls<Row, Query<Row, Definition>>,
    DeleteCalls<WriteResult>,
    RowWatchCalls<Row, Definition>,
    Showable<Row> {}

export interface DeleteCalls<Result> {
  /** Deletes the rows. In a transaction it resolves to their number. */
  delete(options?: { readonly signal?: AbortSignal | undefined }): Promise<Result>;
}

/** A change of a row, with its key as calls take it. */
export type ChangeOf<Row, Definition> = RowChange<Row> & { readonly key: KeyOf<Row, Definition> };

export interface RowWatchCalls<Row, Definition> {
  /** Watches these rows, as `watch` of a store. Not for a query with `limit`, `offset` or `after`. */
  watch(
    callback: (
      changes: readonly ChangeOf<Row, Definition>[],
      at: { readonly root: string },
    ) => unknown,
    options?: WatchOptions,
  ): () => void;
}

/** A change of a row: members to set, `undefined` to remove them; or a function that returns the new row. */
export type RowUpdate<Row, Input = Row> =
  | {
      readonly [Name in keyof Input]?:
        | Input[Name]
        | (undefined extends Input[Name] ? undefined : never);
    }
  | ((row: Row) => Input | undefined | Promise<Input | undefined>);

/** Keys in a list or another iterable; no string, whose characters are no keys. */
type Keys<Key> = Iterable<Key> & object;

/** The reads of a table: the whole interface of a table in a snapshot. */
export interface TableReader<Row, Key, Definition, Asked = SnapshotQuery<Row, Definition>>
  extends NarrowCalls<Row, Definition, Asked>,
    RowReadCalls<Row> {
  /** Returns the row with a key, or `undefined`. */
  get(key: Key): Promise<Row | undefined>;
  /** Returns the rows with these keys, in their order. */
  getMany(keys: Keys<Key>): Promise<(Row | undefined)[]>;
  /** Returns whether there is a row with this key. */
  has(key: Key): Promise<boolean>;
  /** Selects all rows, in the order of their keys. */
  all(): Asked;
  /** Counts the rows before a key. Costs O(log n). */
  rank(key: Key): Promise<number>;
}

/** A table in a transaction. Reads see its edits, which are buffered until it commits. */
export interface TransactionTable<
  Row,
  Input,
  Key,
  Definition,
  Asked = TransactionQuery<Row, Definition>,
> extends TableReader<Row, Key, Definition, Asked> {
  /** Puts a row. Throws `invalid-argument/value` and `invalid-argument/key`. */
  put(row: Input): void;
  /** Puts a row; rejects with `exists` if its key has one. */
  insert(row: Input): Promise<void>;
  /** Changes a row; resolves to the new row, or to `undefined` if it does not exist. */
  update(key: Key, change: RowUpdate<Row, Input>): Promise<Row | undefined>;
  /** Deletes a row, if it exists. */
  delete(key: Key): void;
  /** Deletes rows by their keys, or by conditions; resolves to their number. */
  deleteMany(keysOrConditions: Keys<Key> | Conditions<Row, Definition>): Promise<number>;
}

/** A table of a store or a branch. */
export interface TableHandle<
  Row,
  Input,
  Key,
  Definition,
  Asked = Query<Row, Definition>,
  Db = Store,
> extends TableReader<Row, Key, Definition, Asked>,
    RowWatchCalls<Row, Definition>,
    Showable<Row, Db> {
  /** Returns the source of a row for `liveRow`. */
  rowSource(key: Key): ReturnType<Showable<Row, Db>['source']>;
  /** Puts a row. Rows put in one turn share a commit. */
  put(row: Input, options?: TransactionOptions): Promise<void>;
  /** Puts a row; rejects with `exists` if its key has one. */
  insert(row: Input, options?: TransactionOptions): Promise<void>;
  /** Changes a row in a transaction; resolves to the new row, or to `undefined` if it does not exist. */
  update(
    key: Key,
    change: RowUpdate<Row, Input>,
    options?: TransactionOptions,
  ): Promise<Row | undefined>;
  /** Deletes a row, if it exists. */
  delete(key: Key, options?: TransactionOptions): Promise<void>;
  /** Deletes rows by their keys, or by conditions, in one commit. */
  deleteMany(
    keysOrConditions: Keys<Key> | Conditions<Row, Definition>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<WriteResult>;
  /** Deletes all rows of the table. */
  clear(options?: { readonly signal?: AbortSignal | undefined }): Promise<WriteResult>;
  /** Loads many rows in one commit, as `putMany` of a store: objects, or bytes of NDJSON or a JSON array. */
  putMany(source: Source<Input> | ByteSource, options?: LoadOptions): Promise<WriteResult>;
  // TypeScript shows the errors of the last overload.
  putMany(rows: readonly Input[], options?: LoadOptions): Promise<WriteResult>;
  /** Operations for `db.applyPatch`: one commit may change rows of several tables. */
  readonly op: {
    put(row: Input): PatchOperation;
    delete(key: Key): PatchOperation;
  };
  /** Returns the changes of rows since this branch was forked or last merged, as `history.sinceFork` of a store. */
  sinceFork(options?: {
    readonly signal?: AbortSignal | undefined;
  }): Rows<ChangeOf<Row, Definition>>;
  /**
   * Resolves when all indexes of the table are built, and its rows have its version. Queries wait for that by
   * themselves.
   */
  ready(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /** Returns how far the rows are brought to the version of the table. */
  migration(): Promise<MigrationProgress>;
  /** Tries the migration without writing rows: returns how many rows are left, and which would fail. */
  tryMigration(options?: { readonly signal?: AbortSignal | undefined }): Promise<MigrationTrial>;
}

type HandleOf<T extends AnyTable> =
  T extends Table<infer Row, infer Input, infer Definition>
    ? TableHandle<Row, Input, KeyOf<Row, Definition>, Definition>
    : never;

type ReaderOf<T extends AnyTable> =
  T extends Table<infer Row, infer _Input, infer Definition>
    ? TableReader<Row, KeyOf<Row, Definition>, Definition>
    : never;

type TransactionOf<T extends AnyTable> =
  T extends Table<infer Row, infer Input, infer Definition>
    ? TransactionTable<Row, Input, KeyOf<Row, Definition>, Definition>
    : never;

/** A snapshot with tables. */
export type SnapshotWith<T extends Tables> = Snapshot & {
  readonly [Name in keyof T]: ReaderOf<T[Name]>;
};

/** A transaction with tables. */
export type TransactionWith<T extends Tables> = Transaction & {
  readonly [Name in keyof T]: TransactionOf<T[Name]>;
};

/** The history of a store with tables. */
interface HistoryWith<T extends Tables> extends StoreHistory {
  commit<Result>(
    body: (tx: TransactionWith<T>) => Result | PromiseLike<Result>,
    options?: CommitOptions,
  ): Promise<CommitResult<Result>>;
  connect<C extends Connection>(transport: Transport<C, TransactionWith<T>>): Promise<C>;
}

/** The calls of a store that give handles with tables. */
interface HandleCalls<T extends Tables> extends Store {
  readonly branches: StoreBranches<StoreWith<T>>;
  readonly history: HistoryWith<T>;
  /** Returns the table of this name, as the member of this name is. */
  table<Name extends keyof T & keyof this & string>(name: Name): this[Name];
  snapshot(): SnapshotWith<T>;
  transaction<Result>(
    body: (tx: TransactionWith<T>) => Result | PromiseLike<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
  connect<C extends Connection>(transport: Transport<C, TransactionWith<T>>): Promise<C>;
}

/** A store, or a branch, with tables. */
export type StoreWith<T extends Tables> = HandleCalls<T> & {
  readonly [Name in keyof T]: HandleOf<T[Name]>;
};
