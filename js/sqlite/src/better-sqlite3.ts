/** The driver over the npm package `better-sqlite3`, with types for its used parts. */
import type { SqlConnection, SqlValue } from './driver.js';
import { type SyncDatabase, syncConnection } from './synchronous-connection.js';

interface BetterSqliteStatement {
  raw(): BetterSqliteStatement;
  all(...values: readonly SqlValue[]): SqlValue[][];
  run(...values: readonly SqlValue[]): unknown;
}

/** The class that the package exports. */
export type BetterSqlite3 = new (
  path: string,
  options: { timeout: number },
) => SyncDatabase<BetterSqliteStatement>;

/** Opens a file, without a wait for others, which would block the thread. */
export function betterSqlite3(
  Sqlite: BetterSqlite3,
  path: string,
  remove: () => void,
): SqlConnection {
  const db = new Sqlite(path, { timeout: 0 });
  return syncConnection(db, (statement, values) => statement.raw().all(...values), remove);
}
