/** The common part of the drivers for Node: both answer at once, in the calling thread. */
import { ensureOwnBuffer, type SqlConnection, type SqlValue, type Statement } from './driver.js';

/** A database as both packages have it. */
export interface SyncDatabase<DriverStatement> {
  prepare(sql: string): DriverStatement;
  exec(sql: string): unknown;
  close(): unknown;
}

interface Runnable {
  run(...values: readonly SqlValue[]): unknown;
}

/** Makes a connection; `rowsOf` reads rows as arrays, `remove` deletes the files. */
export function syncConnection<DriverStatement extends Runnable>(
  db: SyncDatabase<DriverStatement>,
  rowsOf: (statement: DriverStatement, values: readonly SqlValue[]) => SqlValue[][],
  remove: () => void,
): SqlConnection {
  const statements = new Map<string, DriverStatement>();
  const prepareStatement = (sql: string): DriverStatement => {
    const known = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  return {
    read: (sql, values = []) =>
      rowsOf(prepareStatement(sql), values).map((row) =>
        row.map((value) => (ArrayBuffer.isView(value) ? ensureOwnBuffer(value) : value)),
      ),
    set: (sql) => {
      db.exec(sql);
    },
    write(batch: readonly Statement[]) {
      db.exec('BEGIN IMMEDIATE');
      try {
        for (const [sql, values = []] of batch) prepareStatement(sql).run(...values);
        db.exec('COMMIT');
      } catch (cause) {
        // After a full disk it is undone already, and the first failure counts.
        try {
          db.exec('ROLLBACK');
        } catch {}
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
