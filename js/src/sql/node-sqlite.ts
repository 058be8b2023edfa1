/** The driver over `node:sqlite`, which comes with newer versions of Node. */
import { ownBytes, type SqlConnection, type SqlValue, type Statement } from './driver.js';

interface Prepared {
  all(...values: readonly SqlValue[]): Record<string, SqlValue>[];
  run(...values: readonly SqlValue[]): unknown;
}

interface Database {
  prepare(sql: string): Prepared;
  exec(sql: string): void;
  close(): void;
}

/** What the module exports, as far as it is used. */
export interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => Database;
}

/** Opens a file. It does not wait for others: it would keep the thread. */
export function nodeSqlite(
  { DatabaseSync }: NodeSqlite,
  path: string,
  remove: () => void,
): SqlConnection {
  const db = new DatabaseSync(path);
  const statements = new Map<string, Prepared>();
  const prepared = (sql: string): Prepared => {
    const known = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  return {
    // Only newer versions give arrays. Names of columns are no numbers: objects keep their order.
    read: (sql, values = []) =>
      prepared(sql)
        .all(...values)
        .map((row) =>
          Object.values(row).map((value) =>
            value instanceof Uint8Array ? ownBytes(value) : value,
          ),
        ),
    set: (sql) => db.exec(sql),
    write(batch: readonly Statement[]) {
      db.exec('BEGIN IMMEDIATE');
      try {
        for (const [sql, values = []] of batch) prepared(sql).run(...values);
        db.exec('COMMIT');
      } catch (cause) {
        // A full disk has undone it already, and the first failure is the one to tell.
        try {
          db.exec('ROLLBACK');
        } catch {}
        throw cause;
      }
    },
    close: () => db.close(),
    destroy() {
      db.close();
      remove();
    },
  };
}
