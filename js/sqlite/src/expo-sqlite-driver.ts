/**
 * The driver over the npm package `expo-sqlite`, versions 15 to 57, with types for its used parts. The package has its
 * own threads. The driver opens its own connection: a shared one, which the package gives by default to all openers of
 * a file, would mix transactions.
 */
import {
  ensureOwnBuffer,
  type SqlConnection,
  type SqlValue,
  type Statement,
  toSqlValue,
} from './driver.js';

/** A prepared statement. The values of its `?` are one array. */
export interface ExpoStatement {
  executeForRawResultAsync(
    values: SqlValue[],
  ): Promise<{ getAllAsync(): Promise<readonly unknown[]> }>;
  finalizeAsync(): Promise<void>;
}

/** An open database. */
export interface ExpoDatabase {
  execAsync(sql: string): Promise<void>;
  prepareAsync(sql: string): Promise<ExpoStatement>;
  closeAsync(): Promise<void>;
}

/** The used exports of the package. */
export interface ExpoSqlite {
  openDatabaseAsync(
    name: string,
    options: { useNewConnection: boolean },
    directory?: string,
  ): Promise<ExpoDatabase>;
  deleteDatabaseAsync(name: string, directory?: string): Promise<void>;
}

/** A file, and how to open it. */
export interface ExpoFile {
  readonly name: string;
  readonly directory?: string;
  readonly encryptionKey?: string;
  /** Called instead of an opening if the build of the package cannot encrypt. */
  refuseKey(): never;
}

/** The files of a database, including a log that SQLite may leave, and would take for the next file's log. */
const SUFFIXES = ['-wal', '-shm', '-journal', ''];

/** Opens a file, without a wait for others, which would block one of the few threads of the package. */
export async function expoConnection(
  { openDatabaseAsync, deleteDatabaseAsync }: ExpoSqlite,
  { name, directory, encryptionKey, refuseKey }: ExpoFile,
): Promise<SqlConnection> {
  const db = await openDatabaseAsync(name, { useNewConnection: true }, directory);
  const statements = new Map<string, Promise<ExpoStatement>>();
  const forget = async (sql: string) => {
    const known = statements.get(sql);
    statements.delete(sql);
    // It fails again with the error of the last run, but is finalized.
    await known?.then((statement) => statement.finalizeAsync()).catch(() => {});
  };
  const run = async (sql: string, values: readonly SqlValue[] = []) => {
    const [text, bound] = bindable(sql, values);
    const prepared = statements.get(text) ?? db.prepareAsync(text);
    statements.set(text, prepared);
    try {
      const result = await (await prepared).executeForRawResultAsync(bound);
      // Read to the last row: until then the statement would keep the state that it reads.
      return await result.getAllAsync();
    } catch (cause) {
      await forget(text);
      throw cause;
    }
  };
  const close = async () => {
    for (const sql of [...statements.keys()]) await forget(sql);
    await db.closeAsync();
  };

  if (encryptionKey !== undefined) {
    try {
      // A build without encryption knows neither pragma, and does not report that.
      if ((await run('PRAGMA cipher_version')).length === 0) refuseKey();
      await db.execAsync(`PRAGMA key = '${encryptionKey.replace(/'/g, "''")}'`);
    } catch (cause) {
      await close();
      throw cause;
    }
  }
  return {
    async read(...statement) {
      return (await run(...statement)).map((row) => (row as unknown[]).map(toSqlValue));
    },
    set: (sql) => db.execAsync(sql),
    // Not by the package's own transactions: one kind begins without the lock, the other opens a connection for each.
    async write(batch: readonly Statement[]) {
      await db.execAsync('BEGIN IMMEDIATE');
      try {
        for (const statement of batch) await run(...statement);
        await db.execAsync('COMMIT');
      } catch (cause) {
        // After a full disk it is undone already, and the first failure counts.
        await db.execAsync('ROLLBACK').catch(() => {});
        throw cause;
      }
    },
    close,
    async destroy() {
      await close();
      for (const suffix of SUFFIXES) {
        await deleteDatabaseAsync(name + suffix, directory).catch((cause: unknown) => {
          if (!/not found/.test(String(cause))) throw cause;
        });
      }
    },
  };
}

/** Makes a statement bindable: empty bytes would become NULL on iOS, and some versions ignore where a view begins. */
function bindable(sql: string, values: readonly SqlValue[]): [string, SqlValue[]] {
  const bound: SqlValue[] = [];
  let at = 0;
  const text = sql.replace(/\?/g, () => {
    const value = values[at++] ?? null;
    if (!(value instanceof Uint8Array)) bound.push(value);
    else if (value.length === 0) return "x''";
    else bound.push(ensureOwnBuffer(value));
    return '?';
  });
  return [text, bound];
}
