/**
 * The interface of a SQLite for the SQL adapter. A driver is a few dozen lines over a package of others, and answers at
 * once or from its own thread.
 */

/** A value in a column. Bytes that a driver returns belong to the caller. */
export type SqlValue = number | string | Uint8Array | null;

/** A statement with the values of its `?`. The first value is never bytes: op-sqlite takes these for a list. */
export type Statement = readonly [sql: string, values?: readonly SqlValue[]];

/** One connection to one file, which gets one call after the other. */
export interface SqlConnection {
  /** Runs one `SELECT`; returns its rows as arrays of columns. */
  read(...statement: Statement): SqlValue[][] | Promise<SqlValue[][]>;
  /** Runs one statement for its effect on the connection: a `PRAGMA`, or the start of a transaction. */
  set(sql: string): void | Promise<void>;
  /** Runs all statements in one transaction. If one of them fails it throws, and undoes all. */
  write(statements: readonly Statement[]): void | Promise<void>;
  close(): void | Promise<void>;
  /** Closes the connection, and deletes the file and its log. */
  destroy(): void | Promise<void>;
}

/** Why a statement failed, by the words of SQLite, which drivers wrap in their own. */
export type Failure = 'busy' | 'full' | 'stale' | 'not-a-database' | 'other';

/** Finds the failure in an error by its text: every driver passes on `sqlite3_errmsg`, and only some a code. */
export function failureOf(cause: unknown): Failure {
  const text = cause instanceof Error ? cause.message : String(cause);
  if (/database (table )?is locked|database schema is locked/.test(text)) return 'busy';
  if (/disk is full/.test(text)) return 'full';
  if (/NOT NULL constraint failed: (ref\.generation|counter\.last)/.test(text)) return 'stale';
  if (/is not a database/.test(text)) return 'not-a-database';
  return 'other';
}

/** Returns the bytes in a buffer of their own, and copies them only if they are not. */
export function ensureOwnBuffer(bytes: Uint8Array): Uint8Array {
  const { buffer, byteLength } = bytes;
  return buffer.byteLength === byteLength ? new Uint8Array(buffer) : new Uint8Array(bytes);
}

/** Converts a value from a package for phones: by its version the bytes of a blob come as a buffer or a view. */
export function toSqlValue(value: unknown): SqlValue {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return value instanceof Uint8Array ? ensureOwnBuffer(value) : (value as SqlValue);
}
