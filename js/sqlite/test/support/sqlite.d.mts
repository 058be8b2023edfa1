import type { BetterSqlite3 } from '../../src/better-sqlite3.js';
import type { NodeSqlite } from '../../src/node-sqlite.js';

export const Better: BetterSqlite3 | undefined;
export const nodeModule: NodeSqlite | undefined;

export interface Statement {
  readonly columnNames: string[];
  readonly isReader: boolean;
  all(...values: unknown[]): unknown[][];
  iterate(...values: unknown[]): IterableIterator<unknown[]>;
  run(...values: unknown[]): { changes: number; lastInsertRowid: number | bigint };
}

export class Sqlite {
  constructor(path: string, options?: { timeout?: number });
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}
