/** The two sides of the comparison: runs statements on each. */
import type { OpenOptions } from 'hedgerow';
import type { Statement, SysbenchRow } from './workload.js';

/** All calls of the workload; the page awaits each. */
export interface Side {
  load(rows: readonly SysbenchRow[]): Promise<unknown>;
  one(statement: Statement): PromiseLike<unknown>;
  points(ids: string[]): PromiseLike<readonly unknown[]>;
  /** Runs one commit, and returns the results of the reads. */
  transaction(statements: readonly Statement[]): Promise<readonly unknown[]>;
  close(): Promise<unknown>;
}

export async function hedgerowSide(options: OpenOptions): Promise<Side> {
  const { openStore } = await import('../peers/hedgerow.js');
  const db = await openStore(options);
  const one = (statement: Statement): PromiseLike<unknown> => {
    if (statement.op === 'get') return db.get(statement.id);
    if (statement.op === 'put') return db.put(statement.row.id, statement.row);
    if (statement.op === 'delete') return db.delete(statement.id);
    return db.scan({ gte: statement.from, limit: statement.limit }).values().toArray();
  };
  const isRead = ({ op }: Statement) => op === 'get' || op === 'range';
  return {
    load: (rows) => db.putMany(rows, { key: '/id' }),
    one,
    points: (ids) => db.getMany(ids),
    transaction: async (statements) => {
      const found: unknown[] = [];
      for (const statement of statements) if (isRead(statement)) found.push(await one(statement));
      // The edits of one turn are one commit.
      await Promise.all(statements.filter((statement) => !isRead(statement)).map(one));
      return found;
    },
    close: () => db.close(),
  };
}

export async function sqliteSide(tuned: boolean): Promise<Side> {
  const { openSqlite, sqliteWorker } = await import('../peers/sqlite/database.js');
  const db = await openSqlite(sqliteWorker(), { where: 'pool', tuned });
  return {
    load: (rows) => db.load(rows),
    one: (statement) => {
      if (statement.op === 'get') return db.get(statement.id);
      if (statement.op === 'put') return db.put(statement.row);
      if (statement.op === 'delete') return db.delete(statement.id);
      return db.scan(statement);
    },
    points: (ids) => db.getMany(ids),
    transaction: (statements) => db.transaction(statements),
    close: () => db.close(),
  };
}
