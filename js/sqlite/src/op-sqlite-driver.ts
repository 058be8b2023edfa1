/**
 * The driver over the npm package `@op-engineering/op-sqlite`, versions 15 to 18, with types for its used parts. The
 * package has its own thread.
 */
import {
  ensureOwnBuffer,
  failureOf,
  type SqlConnection,
  type SqlValue,
  type Statement,
  toSqlValue,
} from './driver.js';

type Scalar = number | string | boolean | null | ArrayBuffer | ArrayBufferView;

/** An open database. */
export interface OpDatabase {
  execute(sql: string, values?: Scalar[]): Promise<unknown>;
  /** Returns rows as arrays; from version 17 on, in a member of the result. */
  executeRaw(
    sql: string,
    values?: Scalar[],
  ): Promise<readonly unknown[][] | { readonly rawRows: readonly unknown[][] }>;
  executeBatch(commands: [string, Scalar[]][]): Promise<unknown>;
  close(): void;
  /** Deletes the database, and closes it. */
  delete(): void;
}

/** Options of the opening of a database. */
export interface OpOpenOptions {
  name: string;
  location?: string;
  encryptionKey?: string;
}

/** The used exports of the package. */
export interface OpSqlite {
  open(options: OpOpenOptions): OpDatabase;
  isSQLCipher(): boolean;
  isLibsql(): boolean;
}

/** How long the package's thread waits for other connections, in milliseconds. */
const BUSY_TIMEOUT_MS = 2000;

/** Opens a file. */
export async function opConnection(
  { open }: OpSqlite,
  options: OpOpenOptions,
): Promise<SqlConnection> {
  const db = open(options);
  try {
    await db.execute(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  } catch (cause) {
    db.close();
    throw cause;
  }
  return {
    async read(sql, values = []) {
      const result = await db.executeRaw(sql, values.map(scalarOf));
      const rows = 'rawRows' in result ? result.rawRows : result;
      return rows.map((row) => row.map(toSqlValue));
    },
    async set(sql) {
      await db.execute(sql);
    },
    async write(batch: readonly Statement[]) {
      const commands = batch.map(([sql, values = []]): [string, Scalar[]] => [
        sql,
        values.map(scalarOf),
      ]);
      await db.executeBatch(commands).catch((cause: unknown) => {
        if (!isUndone(cause)) throw cause;
        return oneByOne(db, commands);
      });
    },
    close: () => db.close(),
    destroy: () => db.delete(),
  };
}

/**
 * Returns whether SQLite has undone the transaction, as it does if the disk is full: the package then fails to undo it,
 * and reports that failure instead of the first.
 */
function isUndone(cause: unknown): boolean {
  return failureOf(cause) === 'other' && /no transaction is active/.test(String(cause));
}

/** Runs a batch once more, to find its first failure. */
async function oneByOne(db: OpDatabase, commands: readonly [string, Scalar[]][]): Promise<void> {
  await db.execute('BEGIN IMMEDIATE');
  try {
    for (const [sql, values] of commands) await db.execute(sql, values);
    await db.execute('COMMIT');
  } catch (cause) {
    await db.execute('ROLLBACK').catch(() => {});
    throw cause;
  }
}

/** Turns bytes into a buffer, since some versions ignore where a view begins. */
function scalarOf(value: SqlValue): Scalar {
  return value instanceof Uint8Array ? (ensureOwnBuffer(value).buffer as ArrayBuffer) : value;
}
