/** The messages between page and worker: one for a call, one for its answer. */
import type { Statement } from '../../sysbench/workload.js';
import type { Limits } from '../database.js';

export interface OpenCall {
  /** A file of the OPFS SAH pool, or `:memory:`. */
  readonly where: 'pool' | 'memory';
  /** A write-ahead log and `synchronous=NORMAL`, instead of SQLite's own defaults. */
  readonly tuned?: boolean;
}

/** The calls, each with its arguments and its answer. Texts are JSON. */
export interface Calls {
  open(call: OpenCall): void;
  begin(): void;
  putBatch(rows: readonly { readonly id: string }[]): void;
  commit(): void;
  remove(ids: readonly string[]): void;
  put(row: { readonly id: string }): void;
  delete(id: string): void;
  get(id: string): string | undefined;
  getMany(ids: readonly string[]): string;
  scan(limits: Limits): string;
  at(n: number): string | undefined;
  rank(id: string): number;
  /** Runs everything in one transaction; the answer is an array of the results of reads. */
  transaction(statements: readonly Statement[]): string;
  close(): void;
}

export interface Request {
  readonly id: number;
  readonly name: keyof Calls;
  readonly argument: unknown;
}

export interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}
