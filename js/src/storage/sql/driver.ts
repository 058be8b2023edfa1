/**
 * What the SQL adapter needs of a SQLite. A driver is a few dozen lines over a package that
 * somebody else keeps; whether it answers at once or from a thread of its own is up to it.
 */

/** What is stored in a column. Bytes that are handed out belong to the caller. */
export type SqlValue = number | string | Uint8Array | null;

/** A statement with the values of its `?`. The first value is never bytes: op-sqlite takes these for a list. */
export type Statement = readonly [sql: string, values?: readonly SqlValue[]];

/** One connection to one file. Its calls are made one after the other. */
export interface SqlConnection {
  /** Runs one `SELECT`; its rows, as arrays of columns. */
  read(...statement: Statement): SqlValue[][] | Promise<SqlValue[][]>;
  /** Runs one statement for its effect on the connection: a `PRAGMA`, or the start of a transaction. */
  set(sql: string): void | Promise<void>;
  /** Runs all statements in one transaction. Throws with nothing written when one of them fails. */
  write(statements: readonly Statement[]): void | Promise<void>;
  close(): void | Promise<void>;
  /** Closes, and deletes the file and what belongs to it. */
  destroy(): void | Promise<void>;
}

/** Why a statement failed, as SQLite words it; drivers wrap that in words of their own. */
export type Failure = 'busy' | 'full' | 'stale' | 'not-a-database' | 'other';

/** Any driver's error passes on what `sqlite3_errmsg` says, and only some pass on a code. */
export function failureOf(cause: unknown): Failure {
  const text = cause instanceof Error ? cause.message : String(cause);
  if (/database (table )?is locked|database schema is locked/.test(text)) return 'busy';
  if (/disk is full/.test(text)) return 'full';
  if (/NOT NULL constraint failed: (ref\.generation|counter\.last)/.test(text)) return 'stale';
  if (/is not a database/.test(text)) return 'not-a-database';
  return 'other';
}

/** The bytes in a buffer of their own, copied only when they are not. */
export function ensureOwnBuffer(bytes: Uint8Array): Uint8Array {
  const { buffer, byteLength } = bytes;
  return buffer.byteLength === byteLength ? new Uint8Array(buffer) : new Uint8Array(bytes);
}

/** What a package for phones has read: the bytes of a blob come as a buffer or as a view, by its version. */
export function toSqlValue(value: unknown): SqlValue {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return value instanceof Uint8Array ? ensureOwnBuffer(value) : (value as SqlValue);
}
