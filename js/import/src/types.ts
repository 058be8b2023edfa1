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

/** Options of `importFrom`. */
export interface ImportFromOptions<
  Value = unknown,
  Key = IDBValidKey,
  Input = unknown,
  Row = unknown,
> {
  /**
   * Makes the row of a record, or a promise of it; for a range, the value. `undefined` leaves the record out. By
   * default the value is the row. It must depend on its arguments alone, since the check calls it again.
   */
  readonly map?:
    | ((value: Value, key: Key) => Input | undefined | PromiseLike<Input | undefined>)
    | undefined;
  /** Reads the source again, and compares each row with the stored one; `true` by default. */
  readonly verify?: boolean | undefined;
  /** Leaves out records without a row, and lists them; by default the first one ends the import. */
  readonly skipFailed?: boolean | undefined;
  /** Reads an imported source again, and brings in its changes since. */
  readonly again?: boolean | undefined;
  /** Reads and maps all records, lists the ones that would fail, and does not write. */
  readonly dryRun?: boolean | undefined;
  /**
   * Returns the row to keep, which must have the same key; `undefined` for no row. By default, rows that both sides
   * have changed reject the call with `conflict`.
   */
  readonly onConflict?:
    | ((conflict: ImportFromConflict<Row>) => Input | undefined | PromiseLike<Input | undefined>)
    | undefined;
  readonly onProgress?: ((progress: ImportFromProgress) => void) | undefined;
  /** Ends the call with `aborted`. The next call goes on from there. */
  readonly signal?: AbortSignal | undefined;
  readonly durability?: 'relaxed' | 'strict' | undefined;
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
