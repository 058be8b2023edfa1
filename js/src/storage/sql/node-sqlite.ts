/** The driver over `node:sqlite`, which comes with newer versions of Node. */
import type { SqlConnection, SqlValue } from './driver.js';
import { type SyncDatabase, syncConnection } from './sync-connection.js';

interface NodeSqliteStatement {
  all(...values: readonly SqlValue[]): Record<string, SqlValue>[];
  run(...values: readonly SqlValue[]): unknown;
}

/** What the module exports, as far as it is used. */
export interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => SyncDatabase<NodeSqliteStatement>;
}

/** Opens a file. It does not wait for others: it would keep the thread. */
export function nodeSqlite(
  { DatabaseSync }: NodeSqlite,
  path: string,
  remove: () => void,
): SqlConnection {
  // Only newer versions give arrays. Names of columns are no numbers: objects keep their order.
  const rowsOf = (statement: NodeSqliteStatement, values: readonly SqlValue[]) =>
    statement.all(...values).map((row) => Object.values(row));
  return syncConnection(new DatabaseSync(path), rowsOf, remove);
}
