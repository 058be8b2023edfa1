/** What an import reads from, what it writes to, and what it tells. */

import type { PatchOperation } from '../engine/write/patch.js';
import type { ErrorCode, Store } from '../index.js';

/** Records of a source, and where reading goes on. */
export interface RecordBatch<Value = unknown, Key = IDBValidKey> {
  readonly records: readonly (readonly [key: Key, value: Value])[];
  /** Behind the last of them, as text; it is kept, and given to `read` again, after a reload, too. */
  readonly next: string;
  /** Whether there were no further ones. */
  readonly isLast: boolean;
}

/** A source that is read. */
export interface OpenRecords<Value = unknown, Key = IDBValidKey> {
  /** How many records it has now, if that is known. */
  count(): Promise<number | undefined>;
  /**
   * The records behind a place, in an order that stays; `''` is the start. At most `limit` of them. Called again only once
   * it has answered.
   */
  read(after: string, limit: number): Promise<RecordBatch<Value, Key>>;
  close(): void;
}

/** Where records come from. */
export interface RecordSource<Value = unknown, Key = IDBValidKey> {
  /** Under this name it is kept how far an import has come. */
  readonly name: string;
  /** Resolves to `undefined` if there is nothing to read, and makes nothing then. */
  open(): Promise<OpenRecords<Value, Key> | undefined>;
}

/** A table of `hedgerow/tables`, of a store or of a branch of one. */
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
   * Makes the key of a row, without the prefix, of that of its record. By default a string stays as it is, and another key
   * goes through `encodeKey` of `hedgerow/keys`: a list as it is, a date as its milliseconds, bytes as hexadecimal digits.
   */
  readonly key?: ((key: Key, value: Value) => string) | undefined;
}

/** A row that both sides have: as it was imported last, as the table has it, and as the source has it; `undefined` if there is none. */
export interface ImportFromConflict<Row = unknown> {
  /** Its key in the store. */
  readonly key: string;
  readonly base: Row | undefined;
  readonly ours: Row | undefined;
  readonly theirs: Row | undefined;
}

/** How far an import is. */
export interface ImportFromProgress {
  /** `verifying` reads everything again, and compares. */
  readonly phase: 'reading' | 'verifying' | 'merging';
  /** Records of the source that were read in this phase. */
  readonly done: number;
  /** How many it has, if that is known. */
  readonly total: number | undefined;
  /** About how many bytes these records are. */
  readonly bytes: number;
}

/** A record that has no row. */
export interface FailedRecord {
  /** Its key in the source, as text. */
  readonly key: string;
  /** Absent if `map`, or the schema, has thrown an error of its own. */
  readonly code?: ErrorCode;
  readonly message: string;
  /** JSON pointer to the part of the row that is at fault. */
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
   * Makes the row of a record, or a promise of it; of a range, its value. `undefined` leaves the record out. Without it the
   * value is the row. It must depend on its arguments alone, since it is called again for the check.
   */
  readonly map?:
    | ((value: Value, key: Key) => Input | undefined | PromiseLike<Input | undefined>)
    | undefined;
  /** Whether the source is read a second time, and each row compared with what is stored; `true` by default. */
  readonly verify?: boolean | undefined;
  /** Leaves out records that have no row, and lists them; by default the first one ends the import. */
  readonly skipFailed?: boolean | undefined;
  /** Reads a source again that was imported before, and brings in what has changed there since. */
  readonly again?: boolean | undefined;
  /** Reads and maps all records, lists those that would fail, and writes nothing. */
  readonly dryRun?: boolean | undefined;
  /**
   * Returns the row that is to be kept, which must have the same key; `undefined` for none. Without it rows that both sides
   * have changed reject the call with `conflict`.
   */
  readonly onConflict?:
    | ((conflict: ImportFromConflict<Row>) => Input | undefined | PromiseLike<Input | undefined>)
    | undefined;
  readonly onProgress?: ((progress: ImportFromProgress) => void) | undefined;
  /** Ends the call with `aborted`. The next one goes on from there. */
  readonly signal?: AbortSignal | undefined;
  readonly durability?: 'relaxed' | 'strict' | undefined;
}

/** What an import has come to. */
export interface ImportFromResult {
  /**
   * `imported`; `already`: an earlier call did, or another tab; `absent`: there is no such database, and nothing was done;
   * `tried`: a dry run.
   */
  readonly status: 'imported' | 'already' | 'absent' | 'tried';
  /** Records of the source that have a row. */
  readonly rows: number;
  /** Records that `map` has left out. */
  readonly skipped: number;
  /** Records that have no row, since something is wrong with them. */
  readonly refused: number;
  /** The first 100 of these. */
  readonly failed: readonly FailedRecord[];
  /** Rows that the source had changed, added or lost when it was read again. */
  readonly changedMeanwhile: number;
  /** Rows of the table that the import has changed. */
  readonly applied: number;
  /** Rows that both sides had changed. */
  readonly conflicts: number;
  /** Whether all records were compared with what is stored, and found equal. */
  readonly verified: boolean;
  /** The branch that has what was imported. Delete it, by `db.deleteBranch`, once the old database is deleted. */
  readonly branch: string;
  readonly tookMs: number;
}
