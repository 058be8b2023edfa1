/** The places where the rows of a table are read and written: a store, a branch, a snapshot or a transaction. */

import type { KeyRange } from '../../base/range.js';
import type { UnawaitedCalls } from '../../base/unawaited-calls.js';
import type { IndexRange } from '../../core/indexes/index-range.js';
import type { WatchOptions } from '../../engine/watch/watch-options.js';
import type { WatchCallback } from '../../engine/watch/watcher-types.js';
import type { WriteResult } from '../../engine/write/write-result.js';
import type { Spec } from './spec.js';

/** The reads that all these places have. */
export interface StoreReads {
  get(key: string): Promise<unknown>;
  getMany(keys: Iterable<string>): Promise<unknown[]>;
  has(key: string): Promise<boolean>;
  count(range: object): Promise<number>;
  scan(options: object): AsyncIterable<
    readonly [key: string, value: unknown, secondary?: unknown]
  > & {
    keys(): AsyncIterable<string> & { toArray(): Promise<string[]> };
    values(): AsyncIterable<unknown> & { toArray(): Promise<unknown[]> };
  };
}

/** Returns the calls of a transaction's function that a table in it belongs to, and the name of the table in errors. */
export function callsIn({ calls, spec }: TableContext): [UnawaitedCalls, string] | undefined {
  return calls && [calls, `tx.${spec.name}`];
}

/** A table in one of these places. */
export interface TableContext {
  readonly spec: Spec;
  readonly at: StoreReads;
  /** The calls of the function of a transaction. */
  readonly calls?: UnawaitedCalls;
  /** The store or branch, for live queries. */
  readonly store?: object;
  /** Resolves when indexes list all rows by their newest form; rejects with `not-ready` if the read does not wait. */
  whenReady?(options?: {
    signal?: AbortSignal | undefined;
    wait?: boolean | undefined;
  }): Promise<void> | undefined;
  watch?(range: KeyRange | IndexRange, callback: WatchCallback, options: WatchOptions): () => void;
  /** Deletes rows by a function in a transaction, which gets the context of the table in it, and resolves to their number. */
  within?(
    remove: (place: TableContext) => Promise<number>,
    signal: AbortSignal | undefined,
  ): Promise<WriteResult>;
  /** Deletes rows by their keys in the store, or by a range; in a transaction it resolves to their number. */
  remove?(
    rows: Iterable<string> | KeyRange | IndexRange,
    signal: AbortSignal | undefined,
  ): Promise<number | WriteResult>;
}
