/** Types of the handles of a store in a worker: calls of a store and its tables, except for parts that cannot cross. */

import type { BranchOptions } from '../../engine/branches/branches.js';
import type { MergeOptions, PreviewOptions } from '../../engine/branches/merge-options.js';
import type { RevertResult } from '../../engine/branches/revert.js';
import type { SumTree } from '../../engine/sums/sum-tree.js';
import type { CommitResult } from '../../engine/transaction/run.js';
import type {
  CommitOptions,
  TransactionOptions,
} from '../../engine/transaction/transaction-options.js';
import type { ExportOptions } from '../../engine/transfer/export-options.js';
import type { WriteResult } from '../../engine/write/write-result.js';
import type { MergePreview, MergeResult, Snapshot, Store, Transaction } from '../../index.js';
import type { RemoteHandle } from '../../live/types.js';
import type { StoreBranches } from '../../store/store-branches.js';
import type { StoreHistory } from '../../store/store-history.js';
import type {
  DeleteCalls,
  QueryCalls,
  RowWatchCalls,
  Showable,
  TableHandle,
  TableReader,
  TransactionTable,
} from '../../store/tables/table-handle-types.js';
import type { AnyTable, KeyOf, Table, Tables } from '../../store/tables/types.js';

/** A query of a snapshot in a worker. */
export interface RemoteSnapshotQuery<Row, Definition = unknown>
  extends QueryCalls<Row, Definition, RemoteSnapshotQuery<Row, Definition>> {}

/** A query in a transaction of a worker. */
export interface RemoteTransactionQuery<Row, Definition = unknown>
  extends QueryCalls<Row, Definition, RemoteTransactionQuery<Row, Definition>>,
    DeleteCalls<number> {}

/** A query of a table in a worker: without `filter`, whose function cannot cross. */
export interface RemoteQuery<Row, Definition = unknown>
  extends QueryCalls<Row, Definition, RemoteQuery<Row, Definition>>,
    DeleteCalls<WriteResult>,
    RowWatchCalls<Row, Definition>,
    Showable<Row, RemoteHandle> {}

type HandleOf<T extends AnyTable> =
  T extends Table<infer Row, infer Input, infer Definition>
    ? TableHandle<
        Row,
        Input,
        KeyOf<Row, Definition>,
        Definition,
        RemoteQuery<Row, Definition>,
        RemoteHandle
      >
    : never;

type ReaderOf<T extends AnyTable> =
  T extends Table<infer Row, infer _Input, infer Definition>
    ? TableReader<Row, KeyOf<Row, Definition>, Definition, RemoteSnapshotQuery<Row, Definition>>
    : never;

type TransactionOf<T extends AnyTable> =
  T extends Table<infer Row, infer Input, infer Definition>
    ? TransactionTable<
        Row,
        Input,
        KeyOf<Row, Definition>,
        Definition,
        RemoteTransactionQuery<Row, Definition>
      >
    : never;

/** A sum tree in a worker. */
export type RemoteSumTree = Omit<SumTree, 'root' | 'name'> & {
  /** A promise here. */
  readonly root: Promise<SumTree['root']>;
};

interface Reads extends Pick<Snapshot, 'get' | 'getMany' | 'has' | 'count' | 'at' | 'rank'> {
  scan: Snapshot['scan'];
  prove: Snapshot['prove'];
  sumTree(name: string): RemoteSumTree;
  /** A promise here: `await` works with a store of the page, too. */
  readonly root: Promise<string>;
}

/** A snapshot of a store in a worker, taken when the call reaches the worker. */
export interface RemoteSnapshot extends Reads {
  close(): void;
  [Symbol.dispose](): void;
}

/** Calls of a store that are the same in a page. */
type Same =
  | 'name'
  | 'put'
  | 'delete'
  | 'insert'
  | 'update'
  | 'clear'
  | 'putMany'
  | 'deleteMany'
  | 'applyPatch'
  | 'health'
  | 'watch';

/** Options of a merge from a page: the function `onConflict` cannot cross. */
export type RemoteMergeOptions = Omit<MergeOptions, 'onConflict'>;

/** An export that a worker makes. */
export interface RemoteExport extends AsyncIterable<Uint8Array> {
  readonly root: string;
  readonly branches: readonly string[];
  readonly bytes: number;
  stream(): ReadableStream<Uint8Array>;
  close(): void;
  [Symbol.dispose](): void;
}

/** The branches of a store in a worker. */
export interface RemoteBranches<T extends Tables = Record<never, never>>
  extends Pick<StoreBranches<unknown>, 'list' | 'delete' | 'switchTo'> {
  /** A promise here: `await` works with a store of the page, too. */
  readonly current: Promise<string>;
  /** See `StoreBranches.open`. */
  open(
    name: string,
    options?: Omit<BranchOptions, 'from'> & {
      readonly from?: string | RemoteSnapshot | undefined;
    },
  ): Promise<RemoteStore<T>>;
  /** See `StoreBranches.merge`. */
  merge(branch: string | RemoteCalls<T>, options?: RemoteMergeOptions): Promise<MergeResult>;
  /** See `StoreBranches.preview`. */
  preview<Value = unknown>(
    branch: string | RemoteCalls<T>,
    options?: PreviewOptions,
  ): Promise<MergePreview<Value>>;
  /** See `StoreBranches.reset`. */
  reset(target: string | RemoteSnapshot): Promise<void>;
}

/** The changes between commits of a store in a worker. */
export interface RemoteHistory<T extends Tables = Record<never, never>>
  extends Pick<StoreHistory, 'diff' | 'since' | 'sinceFork'> {
  /** See `StoreHistory.commit`: the function runs here. */
  commit<Result>(
    body: (tx: RemoteTransaction<T>) => Result | PromiseLike<Result>,
    options?: CommitOptions,
  ): Promise<CommitResult<Result>>;
  /** See `StoreHistory.revert`. */
  revert(
    before: string | RemoteSnapshot,
    after: string | RemoteSnapshot,
    options?: RemoteMergeOptions,
  ): Promise<RevertResult>;
}

/** Copies of a store in a worker. */
export interface RemoteBackup {
  /** See `StoreBackup.export`. */
  export(options?: ExportOptions): Promise<RemoteExport>;
}

/** A store in a worker, without its tables. */
export interface RemoteCalls<T extends Tables = Record<never, never>>
  extends Reads,
    Pick<Store, Same>,
    RemoteHandle {
  readonly branches: RemoteBranches<T>;
  readonly history: RemoteHistory<T>;
  readonly backup: RemoteBackup;
  /** Returns the table of this name, as the member of this name is. */
  table<Name extends keyof T & keyof this & string>(name: Name): this[Name];
  /** See `Store.snapshot`. */
  snapshot(): RemoteSnapshot & { readonly [Name in keyof T]: ReaderOf<T[Name]> };
  /** See `Store.transaction`: the function runs here. */
  transaction<Result>(
    body: (tx: RemoteTransaction<T>) => Result | PromiseLike<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
  /** Closes this handle: the whole connection, which leaves the store open for other pages, or a branch. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A transaction in a worker. It rejects with the errors of its edits. */
export type RemoteTransaction<T extends Tables = Record<never, never>> = Pick<
  Transaction,
  'get' | 'getMany' | 'has' | 'count' | 'at' | 'rank' | 'scan' | 'put' | 'delete' | 'deleteMany'
> & { readonly [Name in keyof T]: TransactionOf<T[Name]> };

/** A store in a worker, with its tables. */
export type RemoteStore<T extends Tables = Record<never, never>> = RemoteCalls<T> & {
  readonly [Name in keyof T]: HandleOf<T[Name]>;
};
