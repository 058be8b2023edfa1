/**
 * Composables for Vue 3: lists, rows and counts that are kept up to date until their effect scope is stopped. Arguments
 * may be refs or getters.
 */
import type { ComputedRef, MaybeRefOrGetter } from 'vue';
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
import { CONNECTION, type ObservableConnection } from './observed-connection.js';
import { type Args, COUNT, ROW, ROWS } from './observed-query.js';
import type { Entry, LiveIndexEntry, Nullish } from './types.js';
import { createVueState } from './vue-state.js';

/**
 * Returns the rows of a query, or of a range of a store or a branch, and follows their changes. The state is `loading`
 * without a query or a store, and on a server. When the arguments change, the last rows stay, with `isStale`, until the
 * new ones are there. Vue makes no proxies of rows.
 */
export function useLive<Row>(
  query: MaybeRefOrGetter<LiveQuery<Row> | Nullish>,
): ComputedRef<LiveState<Row>>;
export function useLive<Value = unknown>(
  db: MaybeRefOrGetter<Watchable | Nullish>,
  options: MaybeRefOrGetter<LiveIndexOptions>,
): ComputedRef<LiveState<LiveIndexEntry<Value>>>;
export function useLive<Value = unknown>(
  db: MaybeRefOrGetter<Watchable | Nullish>,
  options?: MaybeRefOrGetter<LiveOptions | undefined>,
): ComputedRef<LiveState<Entry<Value>>>;
export function useLive(...args: Args): ComputedRef<unknown> {
  return createVueState(ROWS, args);
}

/**
 * Returns the row of a key of a table, store or branch, and follows its changes. It is `loading` without a key, too.
 */
export function useLiveRow<Row, Key>(
  table: MaybeRefOrGetter<LiveTable<Row, Key> | Nullish>,
  key: MaybeRefOrGetter<NoInfer<Key> | Nullish>,
): ComputedRef<LiveRowState<Row>>;
export function useLiveRow<Value = unknown>(
  db: MaybeRefOrGetter<Watchable | Nullish>,
  key: MaybeRefOrGetter<string | Nullish>,
): ComputedRef<LiveRowState<Value>>;
export function useLiveRow(...args: Args): ComputedRef<unknown> {
  return createVueState(ROW, args);
}

/** Counts the rows of a query, whatever its `offset` and `limit`, or of a range. */
export function useLiveCount(
  query: MaybeRefOrGetter<LiveQuery<unknown> | Nullish>,
): ComputedRef<LiveCountState>;
export function useLiveCount(
  db: MaybeRefOrGetter<Watchable | Nullish>,
  range?: MaybeRefOrGetter<LiveCountRange | undefined>,
): ComputedRef<LiveCountState>;
export function useLiveCount(...args: Args): ComputedRef<unknown> {
  return createVueState(COUNT, args);
}

/**
 * Returns the state of a connection (`db.connect`), and follows its changes. Without a connection, and on a server, it is `stopped`.
 */
export function useConnection<State extends ConnectionState>(
  connection: MaybeRefOrGetter<ObservableConnection<State> | Nullish>,
): ComputedRef<State> {
  return createVueState(CONNECTION, [connection]);
}
