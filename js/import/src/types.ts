/** The types of an import: its sources, targets, options and results. */

import type { ErrorCode, ErrorDetail, PatchOperation, Store } from 'hedgerow';

/** Records of a source, and where reading goes on. */
export interface RecordBatch<Value = unknown, Key = IDBValidKey> {
  readonly records: readonly (readonly [key: Key, value: Value])[];
  /** The place behind the last record, as text. It is kept, and passed to `read` again, also after a reload. */
  readonly next: string;
  /** Whether this batch is the last. */
  readonly isLast: boolean;
}

/** A source that is open for reads. */
export interface OpenRecords<Value = unknown, Key = IDBValidKey> {
  /** Resolves to the current number of records, if that is known. */
  count(): Promise<number | undefined>;
  /** Reads at most `limit` records behind a place, in an order that stays; `''` is the start. Calls do not overlap. */
  read(after: string, limit: number): Promise<RecordBatch<Value, Key>>;
  close(): void;
}

/** A source of records. */
export interface RecordSource<Value = unknown, Key = IDBValidKey> {
  /** The name under which the progress of the import is kept. */
  readonly name: string;
  /** Opens the source, and never makes it; resolves to `undefined` if it does not exist. */
  open(): Promise<OpenRecords<Value, Key> | undefined>;
}

/** A table, in a store or in a branch. */
export interface ImportTable<Input = never> {
  readonly op: { put(row: Input): PatchOperation };
  source(): {
    readonly db: unknown;
    readonly options: object;
    rowOf(key: string, stored: unknown): unknown;
  };
}

/** The rows of a store whose keys begin with `prefix`. */
export interface ImportRange<Value = unknown, Key = IDBValidKey> {
  readonly db: Store;
  readonly prefix: string;
  /**
   * Makes the key of a row, without the prefix, from its record's key. By default a string stays as it is, and other
   * keys go through `encodeKey`: lists as they are, dates as milliseconds, bytes as hexadecimal
   * digits.
   */
  readonly key?: ((key: Key, value: Value) => string) | undefined;
}

/** A row of both sides: as last imported, as in the table, and as in the source; `undefined` where it is missing. */
export interface ImportFromConflict<Row = unknown> {
  /** Its key in the store. */
  readonly key: string;
  readonly base: Row | undefined;
  readonly ours: Row | undefined;
  readonly theirs: Row | undefined;
}

/** The progress of an import. */
export interface ImportFromProgress {
  /** `verifying` reads and compares all records again. */
  readonly phase: 'reading' | 'verifying' | 'merging';
  /** Records of the source that were read in this phase. */
  readonly done: number;
  /** All records of the source, if their number is known. */
  readonly total: number | undefined;
  /** About how many bytes these records are. */
  readonly bytes: number;
}

/** A record without a row. */
export interface FailedRecord {
  /** Its key in the source, as text. */
  readonly key: string;
  /** Absent if `map`, or the schema, has thrown its own error. */
  readonly code?: ErrorCode;
  readonly detail?: ErrorDetail;
  readonly message: string;
  /** A JSON pointer to the faulty part of the row. */
  readonly pointer?: string;
}

/** The result of an import. */
export interface ImportFromResult {
  /**
   * `imported`; `already`: an earlier call did, or another tab; `absent`: the database does not exist, and the call did
   * not change anything; `tried`: a dry run.
   */
  readonly status: 'imported' | 'already' | 'absent' | 'tried';
  /** Records of the source with a row. */
  readonly rows: number;
  /** Records that `map` has left out. */
  readonly skipped: number;
  /** Records without a row, since something is wrong with them. */
  readonly refused: number;
  /** The first 100 of these. */
  readonly failed: readonly FailedRecord[];
  /** Rows that the source had changed, added or lost when it was read again. */
  readonly changedMeanwhile: number;
  /** Rows of the table that the import has changed. */
  readonly applied: number;
  /** Rows that both sides had changed. */
  readonly conflicts: number;
  /** Whether all records were compared with the stored rows, and were equal. */
  readonly verified: boolean;
  /** The branch with the imported rows. Delete it, by `db.branches.delete`, once the old database is deleted. */
  readonly branch: string;
  readonly tookMs: number;
}
