/** What bindings take and give. */

import type { SecondaryKey } from '../../core/indexes/columns.js';
import type {
  LiveCountRange,
  LiveCountState,
  LiveIndexOptions,
  LiveOptions,
  LiveQuery,
  LiveRowState,
  LiveState,
  LiveTable,
  Watchable,
} from '../types.js';

/** What is not there yet, such as a store that is being opened. */
export type Missing = null | undefined;

/** A row of a store. */
export type Entry<Value> = readonly [key: string, value: Value];

/** An entry of an index. */
export type IndexEntry<Value> = readonly [key: string, value: Value, secondary: SecondaryKey];

/** A value, or a function of it: what that reads is followed. */
export type Given<T> = T | (() => T);

// Of frameworks that follow the members of an object where they are read.

/** See `useLive`. */
export interface UseLive {
  <Row>(query: Given<LiveQuery<Row> | Missing>): LiveState<Row>;
  <Value = unknown>(
    db: Given<Watchable | Missing>,
    options: Given<LiveIndexOptions>,
  ): LiveState<IndexEntry<Value>>;
  <Value = unknown>(
    db: Given<Watchable | Missing>,
    options?: Given<LiveOptions | undefined>,
  ): LiveState<Entry<Value>>;
}

/** See `useLiveRow`. */
export interface UseLiveRow {
  <Row, Key>(
    table: Given<LiveTable<Row, Key> | Missing>,
    key: Given<NoInfer<Key> | Missing>,
  ): LiveRowState<Row>;
  <Value = unknown>(
    db: Given<Watchable | Missing>,
    key: Given<string | Missing>,
  ): LiveRowState<Value>;
}

/** See `useLiveCount`. */
export interface UseLiveCount {
  (query: Given<LiveQuery<unknown> | Missing>): LiveCountState;
  (db: Given<Watchable | Missing>, range?: Given<LiveCountRange | undefined>): LiveCountState;
}
