/** Runs in a worker: the table and its prepared statements. */
import type { Database, PreparedStatement, Sqlite3Static } from '@sqlite.org/sqlite-wasm';
import type { Statement } from '../../sysbench/workload.js';
import type { Limits } from '../database.js';
import type { Answer, Calls, OpenCall, Request } from './protocol.js';

type Init = () => Promise<Sqlite3Static>;

const TABLE = 'CREATE TABLE IF NOT EXISTS kv(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID';

async function openDatabase(init: Init, { where, tuned = false }: OpenCall): Promise<Database> {
  const sqlite3 = await init();
  let db: Database;
  if (where === 'pool') {
    const pool = await sqlite3.installOpfsSAHPoolVfs({});
    db = new pool.OpfsSAHPoolDb('/bench.sqlite3');
  } else {
    db = new sqlite3.oo1.DB(':memory:');
  }
  if (tuned) {
    // Without shared memory a write-ahead log needs exclusive use of the file.
    db.exec('PRAGMA locking_mode=EXCLUSIVE');
    const mode = db.selectValue('PRAGMA journal_mode=WAL');
    if (mode !== 'wal') throw new Error(`the journal mode is ${mode}, not wal`);
    db.exec('PRAGMA synchronous=NORMAL');
  }
  db.exec(TABLE);
  return db;
}

class Engine implements Calls {
  readonly #db: Database;
  readonly #statements = new Map<string, PreparedStatement>();

  constructor(db: Database) {
    this.#db = db;
  }

  open(): void {}

  #prepared(sql: string): PreparedStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #run(sql: string, ...values: (string | number)[]): void {
    const statement = this.#prepared(sql);
    if (values.length > 0) statement.bind(values);
    statement.stepReset();
  }

  /** Reads the only column of all rows. */
  #texts(sql: string, ...values: (string | number)[]): string[] {
    const statement = this.#prepared(sql);
    if (values.length > 0) statement.bind(values);
    const texts: string[] = [];
    while (statement.step()) texts.push(statement.getString(0) as string);
    statement.reset();
    return texts;
  }

  #inTransaction<T>(work: () => T): T {
    this.begin();
    try {
      const result = work();
      this.commit();
      return result;
    } catch (error) {
      this.#run('ROLLBACK');
      throw error;
    }
  }

  begin(): void {
    this.#run('BEGIN IMMEDIATE');
  }

  commit(): void {
    this.#run('COMMIT');
  }

  put(row: { readonly id: string }): void {
    this.#run(
      'INSERT INTO kv VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value',
      row.id,
      JSON.stringify(row),
    );
  }

  putBatch(rows: readonly { readonly id: string }[]): void {
    for (const row of rows) this.put(row);
  }

  delete(id: string): void {
    this.#run('DELETE FROM kv WHERE key = ?', id);
  }

  remove(ids: readonly string[]): void {
    this.#inTransaction(() => {
      for (const id of ids) this.delete(id);
    });
  }

  get(id: string): string | undefined {
    return this.#texts('SELECT value FROM kv WHERE key = ?', id)[0];
  }

  getMany(ids: readonly string[]): string {
    return `[${ids.map((id) => this.get(id) ?? 'null').join()}]`;
  }

  scan({ prefix, from, limit = -1 }: Limits): string {
    const texts =
      prefix !== undefined
        ? this.#texts(
            'SELECT value FROM kv WHERE key >= ? AND key < ? ORDER BY key LIMIT ?',
            prefix,
            `${prefix}\u{10ffff}`,
            limit,
          )
        : this.#texts(
            'SELECT value FROM kv WHERE key >= ? ORDER BY key LIMIT ?',
            from ?? '',
            limit,
          );
    return `[${texts.join()}]`;
  }

  at(n: number): string | undefined {
    return this.#texts('SELECT value FROM kv ORDER BY key LIMIT 1 OFFSET ?', n)[0];
  }

  rank(id: string): number {
    return Number(this.#texts('SELECT count(*) FROM kv WHERE key < ?', id)[0]);
  }

  transaction(statements: readonly Statement[]): string {
    return this.#inTransaction(() => {
      const found: string[] = [];
      for (const statement of statements) {
        if (statement.op === 'get') found.push(this.get(statement.id) ?? 'null');
        else if (statement.op === 'range') found.push(this.scan(statement));
        else if (statement.op === 'put') this.put(statement.row);
        else this.delete(statement.id);
      }
      return `[${found.join()}]`;
    });
  }

  close(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#db.close();
  }
}

/** Answers the page's calls, one after the other. */
export function serve(init: Init): void {
  let engine: Engine | undefined;
  self.onmessage = async ({ data }: MessageEvent<Request>) => {
    const { id, name, argument } = data;
    let answer: Answer;
    try {
      if (name === 'open') {
        engine = new Engine(await openDatabase(init, argument as OpenCall));
        answer = { id };
      } else {
        const call = (engine as Engine)[name] as (argument: unknown) => unknown;
        answer = { id, result: call.call(engine, argument) };
      }
    } catch (error) {
      answer = { id, error: String(error) };
    }
    self.postMessage(answer);
  };
}
