/**
 * A stand-in for the native half of op-sqlite, over the SQLite of tests: it hands the values of its C++ to the
 * JavaScript half, which is another stand-in (`op-sqlite-shapes.ts`) or the published one. As in the original, a
 * database works in a thread of its own, one task after the other; while one waits for a lock, JavaScript continues.
 *
 * It stands in for `react-native` as well: the published half imports two names of that.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Sqlite } from './sqlite.mjs';

export const NativeModules = {};
export const Platform = { OS: 'android' };

export type Values = readonly unknown[] | undefined;

/** The differences between versions. */
export interface Native {
  /** Before version 17 `executeRaw` gave the rows alone. */
  readonly isRawAlone: boolean;
  /** Folder of databases that are opened without a location. */
  readonly folder: string;
  readonly isEncrypting?: boolean;
  /** The keys that databases were opened with, by path. */
  readonly keys?: Map<string, string | undefined>;
}

interface Result {
  readonly rowsAffected: number;
  readonly rawRows: unknown[][];
  readonly columnNames: string[];
}

/** Returns `globalThis.__OPSQLiteProxy` as it is on a phone. */
export function nativeProxy(native: Native) {
  return {
    open(options: { name: string; location?: string; encryptionKey?: string }) {
      const folder = options.location ?? native.folder;
      mkdirSync(folder, { recursive: true });
      const path = join(folder, options.name);
      native.keys?.set(path, options.encryptionKey);
      return new NativeDatabase(path, native).host();
    },
    isSQLCipher: () => native.isEncrypting === true,
    isLibsql: () => false,
    isTurso: () => false,
    isIOSEmbedded: () => false,
  };
}

class NativeDatabase {
  readonly #path: string;
  readonly #db: Sqlite;
  readonly #native: Native;
  #timeoutMs = 0;
  #thread: Promise<unknown> = Promise.resolve();
  #pending = 0;

  constructor(path: string, native: Native) {
    this.#path = path;
    this.#native = native;
    // The wait is here: SQLite would block the only thread of the test.
    this.#db = new Sqlite(path, { timeout: 0 });
  }

  /** The object that JavaScript sees. */
  host() {
    return {
      close: () => this.#close(),
      delete: () => {
        this.#close();
        if (!existsSync(this.#path)) throw new Error(`op-sqlite: db file not found:${this.#path}`);
        rmSync(this.#path);
      },
      executeSync: (sql: string, values?: Values) => this.#execute(sql, variants(values)),
      execute: (sql: string, values?: Values) => {
        const bound = variants(values);
        return this.#inThread(async () => {
          const { rowsAffected, rawRows, columnNames } = await this.#waiting(sql, bound);
          const rows = rawRows.map((row) => namedRow(columnNames, row));
          return { rowsAffected, rows };
        });
      },
      executeRaw: (sql: string, values?: Values) => {
        const bound = variants(values);
        return this.#inThread(async () => {
          const result = await this.#waiting(sql, bound);
          return this.#native.isRawAlone ? result.rawRows : result;
        });
      },
      executeBatch: (commands: readonly [string, Values?][]) => {
        const all = commands.flatMap(([sql, values]) =>
          // The native half takes an object in the first place for the first of several lists.
          typeof values?.[0] === 'object' && values[0] !== null
            ? values.map((one) => ({ sql, bound: variants(one as Values) }))
            : [{ sql, bound: variants(values) }],
        );
        return this.#inThread(async () => {
          let rowsAffected = 0;
          for (const { sql, bound } of all) {
            rowsAffected += (await this.#waiting(sql, bound)).rowsAffected;
          }
          return { rowsAffected };
        });
      },
      flushPendingReactiveQueries: async () => {},
    };
  }

  #close(): void {
    if (this.#pending > 0) throw new Error('closed while it works');
    this.#db.close();
  }

  #inThread<T>(task: () => Promise<T>): Promise<T> {
    this.#pending++;
    const done = this.#thread.then(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return task();
    });
    const settled = () => {
      this.#pending--;
    };
    this.#thread = done.then(settled, settled);
    return done;
  }

  async #waiting(sql: string, values: unknown[]): Promise<Result> {
    const endMs = performance.now() + this.#timeoutMs;
    for (;;) {
      try {
        return this.#execute(sql, values);
      } catch (cause) {
        if (!/locked/.test(String(cause)) || performance.now() > endMs) throw cause;
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  #execute(sql: string, values: unknown[]): Result {
    const timeout = /^PRAGMA busy_timeout = (\d+)$/.exec(sql)?.[1];
    if (timeout !== undefined) this.#timeoutMs = Number(timeout);
    try {
      const statement = this.#db.prepare(timeout === undefined ? sql : 'SELECT 1');
      if (!statement.isReader) {
        const { changes } = statement.run(...values);
        return { rowsAffected: changes, rawRows: [], columnNames: [] };
      }
      const { columnNames } = statement;
      const rawRows = statement
        .all(...values)
        .map((row) =>
          row.map((value) => (value instanceof Uint8Array ? new Uint8Array(value).buffer : value)),
        );
      return { rowsAffected: 0, rawRows, columnNames };
    } catch (cause) {
      throw new Error(`[op-sqlite] statement execution error: ${(cause as Error).message}`);
    }
  }
}

/** Returns a row by the names of its columns. */
export const namedRow = (names: readonly string[], row: readonly unknown[]) =>
  Object.fromEntries(row.map((value, at) => [names[at], value]));

/** Copies the values, as the C++ does while JavaScript waits. */
export function variants(values: Values): unknown[] {
  return (values ?? []).map((value) => {
    if (value instanceof ArrayBuffer) return Buffer.from(value.slice(0));
    if (ArrayBuffer.isView(value)) {
      return Buffer.from(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    }
    return value;
  });
}
