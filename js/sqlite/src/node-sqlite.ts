/** The driver over `node:sqlite`, which comes with newer versions of Node. */
import type { SqlConnection, SqlValue } from './driver.js';
import { type SyncDatabase, syncConnection } from './synchronous-connection.js';

interface NodeSqliteStatement {
  all(...values: readonly SqlValue[]): Record<string, SqlValue>[];
  run(...values: readonly SqlValue[]): unknown;
}

/** The used exports of the module. */
export interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => SyncDatabase<NodeSqliteStatement>;
}

/** Opens a file, without a wait for others, which would block the thread. */
export function nodeSqlite(
  { DatabaseSync }: NodeSqlite,
  path: string,
  remove: () => void,
): SqlConnection {
  // Only newer versions return arrays. Names of columns are no numbers, so that objects keep their order.
  const rowsOf = (statement: NodeSqliteStatement, values: readonly SqlValue[]) =>
    statement.all(...values).map((row) => Object.values(row));
  return syncConnection(new DatabaseSync(path), rowsOf, remove);
}
