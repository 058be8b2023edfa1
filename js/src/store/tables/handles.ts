/** Tables as handles have them: the calls, with the types of their rows, keys and columns. */

import type { ByteSource } from '../../base/read-bytes.js';
import type { BranchOptions } from '../../engine/branches/branches.js';
import type { Rows } from '../../engine/read/scan.js';
import type {
  CommitOptions,
  CommitResult,
  TransactionOptions,
} from '../../engine/transaction/run.js';
import type { Transaction } from '../../engine/transaction/transaction.js';
import type { WatchOptions } from '../../engine/watch/watcher.js';
import type { IngestResult } from '../../engine/write/ingest.js';
import type { PatchOperation } from '../../engine/write/patch.js';
import type { Source } from '../../engine/write/source.js';
import type { Snapshot } from '../snapshot.js';
import type { Store } from '../store.js';
import type { LoadOptions } from './load.js';
import type { MigrationTrial } from './migrate/bring-forward.js';
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

/** What `live` of `hedgerow/live` takes. */
export interface Showable<Row, Db = Store> {
  /** For `live`. */
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
   * Rows that fulfil conditions: `{ status: 'open', modified: { gte: t } }`. One column can have bounds. A condition that is
   * `undefined` is refused; no row fulfils one of an empty text.
   */
  where(
    conditions: {
      // `Conditions` written out, so that TypeScript shows the columns in errors.
      readonly [Column in AnyColumn<Row, Definition>]?: Condition<MemberOf<Row, Column>>;
    },
  ): Narrowed;
  /** Rows whose column is at least `from`, and below `to`. */
  between<Column extends AnyColumn<Row, Definition>>(
    column: Column,
    from: NonNullable<ComparisonValue<MemberOf<Row, Column>>>,
    to: NonNullable<ComparisonValue<MemberOf<Row, Column>>>,
  ): Narrowed;
  /** In the order of one column or several. */
  orderBy(
    columns: AnyColumn<Row, Definition> | readonly AnyColumn<Row, Definition>[],
    direction?: 'asc' | 'desc',
  ): Narrowed;
}

/** Calls that read the rows of a query, or of a table in the order of its keys. */
interface RowReadCalls<Row> extends AsyncIterable<Row> {
  /** Reads all of them. */
  toArray(options?: ReadOptions): Promise<Row[]>;
  /** The row with a number, from 0. Costs O(log n). */
  at(n: number, options?: ReadOptions): Promise<Row | undefined>;
  /** Their number. Costs O(log n), but with `after`, `filter` or `scan`. */
  count(options?: ReadOptions): Promise<number>;
}

/** What is asked of a query, wherever it is read. Nothing is read before a call that gives rows. */
export interface QueryCalls<Row, Definition, Asked>
  extends NarrowCalls<Row, Definition, Asked>,
    RowReadCalls<Row> {
  /** The other way round. */
  reverse(): Asked;
  /** At most so many rows. */
  limit(count: number): Asked;
  /** Leaves out so many rows at the start. Costs O(log n). */
  offset(count: number): Asked;
  /** Begins right after a row: the last one of the page before. It need not be stored any more. */
  after(row: Row): Asked;
  /** Takes this index. */
  using(index: IndexName<Definition>): Asked;
  /** Reads rows that no index tells apart, too, and leaves out those that are not wanted. */
  scan(): Asked;
  /** The first row, or `undefined`. */
  first(options?: ReadOptions): Promise<Row | undefined>;
}

interface FilterCalls<Row, Asked> {
  /** Leaves out rows for which `test` gives nothing true, after they were read. */
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
    DeleteCalls {}

/** Rows of a table that fulfil conditions, in an order. Nothing is read before a call that gives rows. */
export interface Query<Row, Definition = unknown>
  extends QueryCalls<Row, Definition, Query<Row, Definition>>,
    FilterCalls<Row, Query<Row, Definition>>,
    DeleteCalls,
    RowWatchCalls<Row, Definition>,
    Showable<Row> {}

export interface DeleteCalls {
  /** Deletes the rows; resolves to their number. */
  delete(options?: { readonly signal?: AbortSignal | undefined }): Promise<number>;
}

/** A change of a row, with its key as calls take it. */
export type ChangeOf<Row, Definition> = RowChange<Row> & { readonly key: KeyOf<Row, Definition> };

export interface RowWatchCalls<Row, Definition> {
  /** As `watch` of a store, for these rows. Not with `limit`, `offset` and `after` of a query. */
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

/** Keys in a list, or anything that gives them: no string, whose characters are no keys. */
type Keys<Key> = Iterable<Key> & object;

/** The reads of a table: all of it in a snapshot. */
export interface TableReader<Row, Key, Definition, Asked = SnapshotQuery<Row, Definition>>
  extends NarrowCalls<Row, Definition, Asked>,
    RowReadCalls<Row> {
  /** The row with a key, or `undefined`. */
  get(key: Key): Promise<Row | undefined>;
  /** The rows with these keys, in their order. */
  getMany(keys: Keys<Key>): Promise<(Row | undefined)[]>;
  /** Whether there is a row with this key. */
  has(key: Key): Promise<boolean>;
  /** All rows, in the order of their keys. */
  all(): Asked;
  /** How many rows come before a key. Costs O(log n). */
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
  /** Puts a row. Throws `invalid-value` and `invalid-key`. */
  put(row: Input): void;
  /** Puts a row; rejects with `exists` if its key has one. */
  insert(row: Input): Promise<void>;
  /** Changes a row; resolves to it as it then is, or to `undefined` if there is none. */
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
  /** For `liveRow`: the row with a key. */
  rowSource(key: Key): ReturnType<Showable<Row, Db>['source']>;
  /** Puts a row. Rows put in one turn share a commit. */
  put(row: Input, options?: TransactionOptions): Promise<void>;
  /** Puts a row; rejects with `exists` if its key has one. */
  insert(row: Input, options?: TransactionOptions): Promise<void>;
  /** Changes a row in a transaction; resolves to it as it then is, or to `undefined` if there is none. */
  update(
    key: Key,
    change: RowUpdate<Row, Input>,
    options?: TransactionOptions,
  ): Promise<Row | undefined>;
  /** Deletes a row, if it exists. */
  delete(key: Key, options?: TransactionOptions): Promise<void>;
  /** Deletes rows by their keys, or by conditions, in one commit; resolves to their number. */
  deleteMany(
    keysOrConditions: Keys<Key> | Conditions<Row, Definition>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<number>;
  /** Deletes all rows of the table; resolves to their number. */
  clear(options?: { readonly signal?: AbortSignal | undefined }): Promise<number>;
  /** Loads many rows in one commit, as `putMany` of a store: objects, or bytes of NDJSON or a JSON array. */
  putMany(source: Source<Input> | ByteSource, options?: LoadOptions): Promise<IngestResult>;
  // Of the last one TypeScript shows errors.
  putMany(rows: readonly Input[], options?: LoadOptions): Promise<IngestResult>;
  /** Operations for `db.applyPatch`: one commit may change rows of several tables. */
  readonly op: {
    put(row: Input): PatchOperation;
    del(key: Key): PatchOperation;
  };
  /** What this branch has changed of the table since it was forked, or last merged: as `changesSinceFork` of a store, of rows. */
  changesSinceFork(options?: {
    readonly signal?: AbortSignal | undefined;
  }): Rows<ChangeOf<Row, Definition>>;
  /** Resolves when all indexes of the table are built, and its rows are of its version. Queries wait for that by themselves. */
  ready(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /** How far the rows are brought to the version of the table. */
  migration(): Promise<MigrationProgress>;
  /** Brings rows to the version of the table without writing them: says how many are left, and which would fail. */
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

/** The calls of a store that give handles with tables. */
interface HandleCalls<T extends Tables> extends Store {
  snapshot(): SnapshotWith<T>;
  branch(name: string, options?: BranchOptions): Promise<StoreWith<T>>;
  transaction<Result>(
    body: (tx: TransactionWith<T>) => Result | PromiseLike<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
  commit<Result>(
    body: (tx: TransactionWith<T>) => Result | PromiseLike<Result>,
    options?: CommitOptions,
  ): Promise<CommitResult<Result>>;
}

/** A store, or a branch, with tables. */
export type StoreWith<T extends Tables> = HandleCalls<T> & {
  readonly [Name in keyof T]: HandleOf<T[Name]>;
};
