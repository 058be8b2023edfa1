/** The driver over the npm package `better-sqlite3`: as much of it as is used, and how. */
import { ownBytes, type SqlConnection, type SqlValue, type Statement } from './driver.js';

interface Prepared {
  raw(): Prepared;
  all(...values: readonly SqlValue[]): SqlValue[][];
  run(...values: readonly SqlValue[]): unknown;
}

interface Database {
  readonly inTransaction: boolean;
  prepare(sql: string): Prepared;
  exec(sql: string): unknown;
  close(): unknown;
}

/** The class that the package exports. */
export type BetterSqlite3 = new (path: string, options: { timeout: number }) => Database;

/** Opens a file. It does not wait for others: it would keep the thread. */
export function betterSqlite3(
  Sqlite: BetterSqlite3,
  path: string,
  remove: () => void,
): SqlConnection {
  const db = new Sqlite(path, { timeout: 0 });
  const statements = new Map<string, Prepared>();
  const prepared = (sql: string): Prepared => {
    const known = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  return {
    read: (sql, values = []) =>
      prepared(sql)
        .raw()
        .all(...values)
        .map((row) => row.map((value) => (value instanceof Uint8Array ? ownBytes(value) : value))),
    set: (sql) => {
      db.exec(sql);
    },
    write(batch: readonly Statement[]) {
      db.exec('BEGIN IMMEDIATE');
      try {
        for (const [sql, values = []] of batch) prepared(sql).run(...values);
        db.exec('COMMIT');
      } catch (cause) {
        // A full disk has undone it already.
        if (db.inTransaction) db.exec('ROLLBACK');
        throw cause;
      }
    },
    close: () => {
      db.close();
    },
    destroy() {
      db.close();
      remove();
    },
  };
}
