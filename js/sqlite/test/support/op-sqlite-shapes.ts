/**
 * Stand-ins for the npm package `@op-engineering/op-sqlite`, versions 15 to 18, as far as the adapter uses it: one for
 * phones, over the stand-in for its native half, and one for its build for Node. `op-sqlite-shapes.test.ts` checks the
 * shared behaviour over both these and the package.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OpDatabase, OpSqlite } from '../../src/op-sqlite-driver.js';
import { type Native, namedRow, nativeProxy, type Values, variants } from './op-sqlite-native.js';
import { Sqlite } from './sqlite.mjs';

type Commands = Parameters<OpDatabase['executeBatch']>[0];

/** Before version 17 `executeRaw` gave the rows alone. */
export function isRawAlone(version: string): boolean {
  return Number.parseInt(version, 10) < 17;
}

/** Returns the package that an app for phones imports. */
export function phonePackage(native: Native): OpSqlite {
  const proxy = nativeProxy(native);
  return {
    isSQLCipher: proxy.isSQLCipher,
    isLibsql: proxy.isLibsql,
    open(options) {
      const host = proxy.open(options);
      let last: Promise<unknown> = Promise.resolve();
      // The thread has no transactions: JavaScript begins and ends them, without waiting for locks.
      const batch = async (commands: Commands) => {
        await new Promise((resolve) => setImmediate(resolve));
        try {
          host.executeSync('BEGIN TRANSACTION');
          const result = await host.executeBatch(commands);
          host.executeSync('COMMIT');
          return result;
        } catch (cause) {
          // If SQLite has undone it already, this call fails, and the caller gets its error.
          host.executeSync('ROLLBACK');
          throw cause;
        }
      };
      return {
        execute: async (sql, values) => host.execute(sql, values),
        executeRaw: async (sql, values) => host.executeRaw(sql, values),
        executeBatch(commands) {
          const done = last.then(() => batch(commands));
          last = done.catch(() => {});
          return done;
        },
        close: host.close,
        delete: host.delete,
      };
    },
  };
}

/** Returns the package that a script in Node imports: it works in the calling thread, without encryption. */
export function nodePackage(version: string): OpSqlite {
  return {
    isSQLCipher: () => false,
    isLibsql: () => false,
    open: ({ name, location = '.' }) => new NodeDatabase(join(location, name), isRawAlone(version)),
  };
}

class NodeDatabase implements OpDatabase {
  readonly #path: string;
  readonly #isRawAlone: boolean;
  readonly #db: Sqlite;

  constructor(path: string, rawAlone: boolean) {
    mkdirSync(dirname(path), { recursive: true });
    this.#path = path;
    this.#isRawAlone = rawAlone;
    this.#db = new Sqlite(path);
  }

  async execute(sql: string, values?: Values) {
    return told(() => {
      const statement = this.#db.prepare(sql);
      if (statement.isReader) {
        const rows = statement.all(...variants(values));
        return { rowsAffected: 0, rows: rows.map((row) => namedRow(statement.columnNames, row)) };
      }
      const { changes, lastInsertRowid } = statement.run(...variants(values));
      return { rowsAffected: changes, insertId: Number(lastInsertRowid), rows: [] };
    });
  }

  async executeRaw(sql: string, values?: Values) {
    return told(() => {
      const statement = this.#db.prepare(sql);
      const rawRows = statement.all(...variants(values));
      if (this.#isRawAlone) return rawRows;
      return { rowsAffected: 0, rawRows, columnNames: statement.columnNames };
    });
  }

  async executeBatch(commands: Commands) {
    let rowsAffected = 0;
    this.#db.exec('BEGIN');
    try {
      for (const [sql, values] of commands) {
        rowsAffected += this.#db.prepare(sql).run(...variants(values)).changes;
      }
      this.#db.exec('COMMIT');
    } catch (cause) {
      this.#undo();
      throw cause;
    }
    return { rowsAffected };
  }

  #undo() {
    try {
      this.#db.exec('ROLLBACK');
    } catch {
      // SQLite has undone it already.
    }
  }

  close() {
    this.#db.close();
  }

  delete() {
    this.#db.close();
    rmSync(this.#path, { force: true });
  }
}

/** Single statements fail with an error of the package, batches with an error of the SQLite below it. */
function told<T>(run: () => T): T {
  try {
    return run();
  } catch (cause) {
    throw new Error(`SQL Error: ${(cause as Error).message}`);
  }
}
