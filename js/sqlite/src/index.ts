/** `@hedgerow/sqlite`: stores in SQLite on servers, in scripts and in tests. */

import type { Storage } from 'hedgerow';
import { anything, HedgerowError, mandatory, type OptionsOf, optionsOf } from 'hedgerow/kit';
import { type BetterSqlite3, betterSqlite3 } from './better-sqlite3.js';
import { ProcessLocks } from './cross-process-locks.js';
import type { SqlConnection } from './driver.js';
import { type NodeSqlite, nodeSqlite } from './node-sqlite.js';
import { sqlStorage } from './sql-storage.js';

/** The packages with SQLite. */
export type SqliteDriver = 'better-sqlite3' | 'node:sqlite';

/** The drivers, in the order of the tries. */
const DRIVERS: readonly SqliteDriver[] = ['better-sqlite3', 'node:sqlite'];

const SQLITE_OPTIONS = {
  /** The folder of the files, which is made if it is missing. */
  location: mandatory(anything<string>()),
  /** The start of the names of the files; `'hedgerow'` by default. */
  name: anything<string>(),
  /** The driver; by default `better-sqlite3` if it is installed and loads, else `node:sqlite`. */
  driver: anything<SqliteDriver>(),
};

/** The place of stores. */
export interface SqliteOptions extends OptionsOf<typeof SQLITE_OPTIONS> {}

// The used parts of Node: the package is compiled without Node's types, since it also runs elsewhere.
interface Fs {
  mkdirSync(path: string, options: { recursive: true }): unknown;
  rmSync(path: string, options: { force: true }): void;
}
interface Path {
  resolve(path: string): string;
  join(...parts: string[]): string;
}
interface Process {
  getBuiltinModule(name: string): unknown;
}

/** How soon a handle hears of a commit of another process, in milliseconds. A look costs microseconds. */
const LOOK_MS = 100;

type OpenFile = (path: string, remove: () => void) => SqlConnection;

const opened = new Map<string, Promise<OpenFile>>();
const locksOf = new Map<string, ProcessLocks>();

/**
 * Keeps each store in its own file, in the folder `location`. Several processes may have the same store open; the
 * folder must be on a local disk, and all processes must use the same driver.
 */
export function sqlite(options: SqliteOptions): Storage {
  const { location, name = 'hedgerow', driver } = optionsOf('sqlite', options, SQLITE_OPTIONS);
  const { process } = globalThis as { process?: Process };
  if (typeof process?.getBuiltinModule !== 'function') {
    throw new HedgerowError('unavailable/storage', '@hedgerow/sqlite needs Node 20.19 or newer');
  }
  if (typeof location !== 'string' || location === '' || location === ':memory:') {
    throw new HedgerowError(
      'invalid-argument',
      'sqlite: location must be a folder; to keep nothing, take memory()',
    );
  }
  if (typeof name !== 'string' || (driver !== undefined && !DRIVERS.includes(driver))) {
    const drivers = DRIVERS.join(' or ');
    throw new HedgerowError('invalid-argument', `sqlite: name is a string, driver ${drivers}`);
  }
  const fs = process.getBuiltinModule('node:fs') as Fs;
  const path = process.getBuiltinModule('node:path') as Path;
  const place = path.resolve(location);

  const openIn = async (folder: string, file: string): Promise<SqlConnection> => {
    const open = await openerOf(driver);
    const full = path.join(folder, file);
    try {
      fs.mkdirSync(folder, { recursive: true });
      return open(full, () => {
        for (const end of ['', '-journal', '-wal', '-shm']) fs.rmSync(full + end, { force: true });
      });
    } catch (cause) {
      throw new HedgerowError('unavailable/storage', `cannot open ${full}: ${String(cause)}`, {
        cause,
      });
    }
  };
  const folder = path.join(place, 'hedgerow-locks');
  const locks = locksOf.get(place) ?? new ProcessLocks((file) => openIn(folder, file));
  locksOf.set(place, locks);
  return sqlStorage({
    place,
    prefix: name,
    locks,
    lookMs: LOOK_MS,
    open: (file) => openIn(place, file),
  });
}

/** Loads the requested driver, or the first available one. */
function openerOf(driver: SqliteDriver | undefined): Promise<OpenFile> {
  const key = driver ?? '';
  const known = opened.get(key) ?? load(driver);
  opened.set(key, known);
  // A later try may find it installed.
  known.catch(() => opened.delete(key));
  return known;
}

async function load(driver: SqliteDriver | undefined): Promise<OpenFile> {
  const causes: unknown[] = [];
  for (const name of driver === undefined ? DRIVERS : [driver]) {
    try {
      // Use a variable, so that compilers and bundlers of this file need neither.
      const specifier: string = name;
      const module = await import(
        /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ specifier
      );
      if (name === 'node:sqlite') {
        return (path, remove) => nodeSqlite(module as NodeSqlite, path, remove);
      }
      const Sqlite = module.default as BetterSqlite3;
      // The package looks for its native half only now; it may be missing, or for another Node.
      new Sqlite(':memory:', { timeout: 0 }).close();
      return (path, remove) => betterSqlite3(Sqlite, path, remove);
    } catch (cause) {
      causes.push(cause);
    }
  }
  const advice = 'install better-sqlite3, or use a Node that has node:sqlite';
  throw new HedgerowError('unavailable/storage', driver ? `${driver} cannot be loaded` : advice, {
    cause: causes[0],
  });
}
