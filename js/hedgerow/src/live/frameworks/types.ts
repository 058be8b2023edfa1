/** The types of the arguments and results of bindings. */

import type { SecondaryKey } from '../../core/indexes/index-range.js';
import type { ConnectionState } from '../../sync/link/connection-state.js';
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
import type { ObservableConnection } from './observed-connection.js';

/** An argument that is not there yet, such as a store that is being opened. */
export type Nullish = null | undefined;

/** A row of a store. */
export type Entry<Value> = readonly [key: string, value: Value];

/** An entry of an index. */
export type LiveIndexEntry<Value> = readonly [key: string, value: Value, secondary: SecondaryKey];

/** A value, or a function that returns it; signals that the function reads are followed. */
export type MaybeGetter<T> = T | (() => T);

// For frameworks that follow the members of an object where they are read.

/** See `useLive`. */
export interface UseLive {
  <Row>(query: MaybeGetter<LiveQuery<Row> | Nullish>): LiveState<Row>;
  <Value = unknown>(
    db: MaybeGetter<Watchable | Nullish>,
    options: MaybeGetter<LiveIndexOptions>,
  ): LiveState<LiveIndexEntry<Value>>;
  <Value = unknown>(
    db: MaybeGetter<Watchable | Nullish>,
    options?: MaybeGetter<LiveOptions | undefined>,
  ): LiveState<Entry<Value>>;
}

/** See `useLiveRow`. */
export interface UseLiveRow {
  <Row, Key>(
    table: MaybeGetter<LiveTable<Row, Key> | Nullish>,
    key: MaybeGetter<NoInfer<Key> | Nullish>,
  ): LiveRowState<Row>;
  <Value = unknown>(
    db: MaybeGetter<Watchable | Nullish>,
    key: MaybeGetter<string | Nullish>,
  ): LiveRowState<Value>;
}

/** See `useLiveCount`. */
export interface UseLiveCount {
  (query: MaybeGetter<LiveQuery<unknown> | Nullish>): LiveCountState;
  (
    db: MaybeGetter<Watchable | Nullish>,
    range?: MaybeGetter<LiveCountRange | undefined>,
  ): LiveCountState;
}

/** See `useConnection`. */
export type UseConnection = <State extends ConnectionState>(
  connection: MaybeGetter<ObservableConnection<State> | Nullish>,
) => State;
