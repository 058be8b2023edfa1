// A SQLite for tests and scripts: the package better-sqlite3 where it is installed and loads, otherwise Node's own.
// Both answer synchronously and return rows as arrays.

/** The class of better-sqlite3; `undefined` where it is not installed, or not compiled for this Node. */
async function betterSqlite3() {
  try {
    const { default: Better } = await import('better-sqlite3');
    new Better(':memory:').close();
    return Better;
  } catch {
    return undefined;
  }
}

/** The exports of the package, or of Node's own module. */
export const Better = await betterSqlite3();
export const nodeModule = Better === undefined ? await import('node:sqlite') : undefined;

if (Better === undefined) {
  console.log('*** better-sqlite3 is not installed: the tests of its driver are left out.');
}

/** Returns values to bind. Node 22 binds some empty byte arrays as NULL, but no copy of them. */
const bound = (values) =>
  values.map((value) => (value instanceof Uint8Array ? new Uint8Array(value) : value));

/** A prepared statement. */
class Statement {
  #statement;

  constructor(statement) {
    this.#statement = statement;
    if (Better === undefined) statement.setReturnArrays(true);
    else if (statement.reader) statement.raw();
  }

  get columnNames() {
    const isSilent = Better !== undefined && !this.#statement.reader;
    return isSilent ? [] : this.#statement.columns().map(({ name }) => name);
  }

  /** Whether it returns rows. */
  get isReader() {
    return this.columnNames.length > 0;
  }

  all(...values) {
    return this.#statement.all(...bound(values));
  }

  iterate(...values) {
    return this.#statement.iterate(...bound(values));
  }

  run(...values) {
    return this.#statement.run(...bound(values));
  }
}

/** A connection to a file; it waits for other connections up to `timeout`, in milliseconds. */
export class Sqlite {
  #db;

  constructor(path, { timeout = 5_000 } = {}) {
    this.#db = Better === undefined ? new nodeModule.DatabaseSync(path) : new Better(path);
    this.#db.exec(`PRAGMA busy_timeout = ${timeout}`);
  }

  exec(sql) {
    this.#db.exec(sql);
  }

  prepare(sql) {
    return new Statement(this.#db.prepare(sql));
  }

  close() {
    this.#db.close();
  }
}
