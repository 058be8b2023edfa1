/**
 * A stand-in for the native half of expo-sqlite, over the SQLite of tests: it hands the values of its Kotlin and Swift
 * to the JavaScript half, which is another stand-in (`expo-sqlite-shapes.ts`) or the published one. Where the platforms
 * differ it takes the harder way: calls run in any of several threads, bytes of no length become NULL, and a failed
 * statement fails once more when it is finalized.
 *
 * It stands in for `expo` as well: the published half imports one name of that.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { Sqlite, type Statement } from './sqlite.mjs';

/** The differences between versions and between builds. */
export interface ExpoNative {
  /** From version 56 on blobs come as buffers; JavaScript makes views of them. */
  readonly givesBuffers: boolean;
  /** Folder of databases that are opened without one. */
  readonly folder: string;
  readonly isEncrypting?: boolean;
  /** The keys that databases were given, by path. */
  readonly keys?: Map<string, string>;
  /** Statements that were still open when their connection was closed. */
  readonly leftOver?: string[];
}

interface Options {
  readonly useNewConnection?: boolean;
}
type Row = unknown[];
type Bound = Readonly<Record<string, unknown>>;

const asked = globalThis as { __expoNative?: unknown; __DEV__?: boolean };
asked.__DEV__ = false;

/** The part of the module `expo` that the published half uses. */
export function requireNativeModule(name: string): unknown {
  if (name !== 'ExpoSQLite') throw new Error(`Cannot find native module '${name}'`);
  return asked.__expoNative;
}

/** Makes the next `requireNativeModule` return this module. */
export function installNative(module: unknown): void {
  asked.__expoNative = module;
}

const failed = (call: string, why: string) =>
  new Error(`Calling the '${call}' function has failed\n→ Caused by: ${why}`);

let calls = 0;
/** Runs a call as one of several threads would: of two calls at once the second may finish first. */
async function inThread<T>(run: () => T): Promise<T> {
  const isSlow = calls++ % 2 === 0;
  await new Promise((resolve) => setImmediate(resolve));
  if (isSlow) await new Promise((resolve) => setImmediate(resolve));
  return run();
}

/** Returns the native module. */
export function nativeModule(native: ExpoNative) {
  const opened: NativeDatabase[] = [];

  class NativeStatement {
    sql = '';
    #statement: Statement | undefined;
    #rows: Iterator<unknown> | undefined;
    #failure: string | undefined;
    isFinalized = false;

    prepare(db: NativeDatabase, sql: string): void {
      this.sql = sql;
      this.#statement = db.told('prepareAsync', () => db.connection.prepare(sql));
    }

    runAsync(db: NativeDatabase, primitives: Bound, blobs: Bound, isArray: boolean) {
      const values: unknown[] = [];
      if (!isArray) throw failed('runAsync', 'Invalid bind parameter');
      for (const [at, value] of Object.entries(primitives)) values[Number(at)] = scalar(value);
      for (const [at, value] of Object.entries(blobs)) values[Number(at)] = blob(value);
      return inThread(() => {
        this.#check(db);
        this.#reset();
        return this.#told(db, 'runAsync', () => {
          const statement = this.#statement as Statement;
          if (!statement.isReader) {
            const { changes, lastInsertRowid } = statement.run(...values);
            return { changes, lastInsertRowId: Number(lastInsertRowid), firstRowValues: [] };
          }
          this.#rows = statement.iterate(...values);
          const first = this.#next();
          return { changes: 0, lastInsertRowId: 0, firstRowValues: first ?? [] };
        });
      });
    }

    getAllAsync(db: NativeDatabase): Promise<Row[]> {
      return inThread(() => {
        this.#check(db);
        return this.#told(db, 'getAllAsync', () => {
          const rows: Row[] = [];
          for (let row = this.#next(); row !== undefined; row = this.#next()) rows.push(row);
          return rows;
        });
      });
    }

    getColumnNamesAsync(): Promise<string[]> {
      return inThread(() => this.#statement?.columnNames ?? []);
    }

    finalizeAsync(db: NativeDatabase): Promise<void> {
      return inThread(() => {
        this.#check(db);
        this.finalize();
        db.statements.delete(this);
        if (this.#failure !== undefined) throw failed('finalizeAsync', this.#failure);
        this.isFinalized = true;
      });
    }

    finalize(): void {
      this.#reset();
      this.#statement = undefined;
    }

    #next(): Row | undefined {
      const { done, value } = this.#rows?.next() ?? { done: true, value: undefined };
      if (done === true) {
        this.#rows = undefined;
        return undefined;
      }
      return (value as Row).map((column) =>
        !(column instanceof Uint8Array)
          ? column
          : native.givesBuffers
            ? new Uint8Array(column).buffer
            : new Uint8Array(column),
      );
    }

    #reset(): void {
      this.#rows?.return?.();
      this.#rows = undefined;
    }

    #told<T>(db: NativeDatabase, call: string, run: () => T): T {
      this.#failure = undefined;
      try {
        return db.told(call, run);
      } catch (cause) {
        this.#rows = undefined;
        this.#failure = String((cause as Error).message.split('Caused by: ')[1]);
        throw cause;
      }
    }

    #check(db: NativeDatabase): void {
      if (db.isClosed || this.isFinalized || this.#statement === undefined) {
        throw new Error('Access to closed resource');
      }
    }
  }

  class NativeDatabase {
    readonly statements = new Set<NativeStatement>();
    readonly #path!: string;
    readonly connection!: Sqlite;
    isClosed = false;
    uses = 1;

    constructor(path: string, options: Options = {}) {
      const known = opened.find((one) => one.#path === path && !one.isClosed);
      if (options.useNewConnection !== true && known !== undefined) {
        known.uses++;
        // biome-ignore lint/correctness/noConstructorReturn: as the constructor of the package does.
        return known;
      }
      this.#path = path;
      this.connection = new Sqlite(path, { timeout: 0 });
      opened.push(this);
    }

    static isOpen(path: string): boolean {
      return opened.some((one) => one.#path === path && !one.isClosed);
    }

    initAsync(): Promise<void> {
      return inThread(() => {});
    }

    execAsync(sql: string): Promise<void> {
      return inThread(() => {
        this.#check();
        const key = /^PRAGMA key = '(.*)'$/s.exec(sql)?.[1];
        if (key !== undefined) native.keys?.set(this.#path, key.replaceAll("''", "'"));
        else this.told('execAsync', () => this.connection.exec(sql), false);
      });
    }

    prepareAsync(statement: NativeStatement, sql: string): Promise<NativeStatement> {
      return inThread(() => {
        this.#check();
        const isCipher = sql === 'PRAGMA cipher_version' && native.isEncrypting === true;
        statement.prepare(this, isCipher ? "SELECT '4.6.1 community' AS cipher_version" : sql);
        this.statements.add(statement);
        return statement;
      });
    }

    closeAsync(): Promise<void> {
      return inThread(() => {
        this.#check();
        if (--this.uses > 0) return;
        for (const statement of this.statements) {
          native.leftOver?.push(statement.sql);
          statement.finalize();
        }
        opened.splice(opened.indexOf(this), 1);
        this.connection.close();
        this.isClosed = true;
      });
    }

    told<T>(call: string, run: () => T, withCode = true): T {
      try {
        return run();
      } catch (cause) {
        const { message, code } = cause as Error & { code?: string };
        throw failed(call, withCode ? `Error code ${code}: ${message}` : message);
      }
    }

    #check(): void {
      if (this.isClosed) throw new Error('Access to closed resource');
    }
  }

  return {
    NativeDatabase,
    NativeStatement,
    NativeSession: class {},
    defaultDatabaseDirectory: native.folder,
    bundledExtensions: {},
    ensureDatabasePathExistsAsync: (path: string) =>
      inThread(() => mkdirSync(dirname(path), { recursive: true })),
    deleteDatabaseAsync: (path: string) =>
      inThread(() => {
        if (NativeDatabase.isOpen(path)) {
          throw new Error(`Unable to delete database '${path}' that is currently open.`);
        }
        if (!existsSync(path)) throw new Error(`Database '${path}' not found`);
        rmSync(path);
      }),
  };
}

function scalar(value: unknown): unknown {
  if (value === null || typeof value === 'number' || typeof value === 'string') return value;
  throw failed('runAsync', `Unsupported parameter type: ${typeof value}`);
}

/** Copies bytes. Of a view it copies the whole buffer: no version promises to respect the start of a view. */
function blob(value: unknown): Buffer | null {
  if (!(value instanceof Uint8Array)) throw failed('runAsync', 'Unsupported parameter type');
  const { byteLength } = value.buffer;
  return byteLength === 0 ? null : Buffer.from(value.buffer.slice(0) as ArrayBuffer);
}
