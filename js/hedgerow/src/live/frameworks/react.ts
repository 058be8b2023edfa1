'use client';
/**
 * Hooks for React 18 and later: lists, rows and counts that are kept up to date. A component renders again only when a
 * part that it shows has changed. Arguments are compared by value: each render may make new ones.
 */
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
import { useLiveState, useReady } from './react-state.js';
import type { Entry, LiveIndexEntry, Nullish } from './types.js';

/**
 * Returns the rows of a query, or of a range of a store or a branch, and follows their changes. The state is `loading`
 * without a query or a store, and on a server. When the arguments change, the last rows stay, with `isStale`, until the
 * new ones are there.
 */
export function useLive<Row>(query: LiveQuery<Row> | Nullish): LiveState<Row>;
export function useLive<Value = unknown>(
  db: Watchable | Nullish,
  options: LiveIndexOptions,
): LiveState<LiveIndexEntry<Value>>;
export function useLive<Value = unknown>(
  db: Watchable | Nullish,
  options?: LiveOptions,
): LiveState<Entry<Value>>;
export function useLive(...args: Args): unknown {
  return useLiveState(ROWS, args);
}

/**
 * Returns the row of a key of a table, store or branch, and follows its changes. It is `loading` without a key, too.
 */
export function useLiveRow<Row, Key>(
  table: LiveTable<Row, Key> | Nullish,
  key: NoInfer<Key> | Nullish,
): LiveRowState<Row>;
export function useLiveRow<Value = unknown>(
  db: Watchable | Nullish,
  key: string | Nullish,
): LiveRowState<Value>;
export function useLiveRow(...args: Args): unknown {
  return useLiveState(ROW, args);
}

/** Counts the rows of a query, whatever its `offset` and `limit`, or of a range. */
export function useLiveCount(query: LiveQuery<unknown> | Nullish): LiveCountState;
export function useLiveCount(db: Watchable | Nullish, range?: LiveCountRange): LiveCountState;
export function useLiveCount(...args: Args): unknown {
  return useLiveState(COUNT, args);
}

/** Works as `useLive`, but suspends until there are rows, and throws errors to the error boundary. */
export function useLiveSuspense<Row>(query: LiveQuery<Row> | Nullish): LiveState<Row>;
export function useLiveSuspense<Value = unknown>(
  db: Watchable | Nullish,
  options: LiveIndexOptions,
): LiveState<LiveIndexEntry<Value>>;
export function useLiveSuspense<Value = unknown>(
  db: Watchable | Nullish,
  options?: LiveOptions,
): LiveState<Entry<Value>>;
export function useLiveSuspense(...args: Args): unknown {
  return useReady(ROWS, args);
}

/** Works as `useLiveRow`, but suspends until the row was read, and throws errors to the error boundary. */
export function useLiveRowSuspense<Row, Key>(
  table: LiveTable<Row, Key> | Nullish,
  key: NoInfer<Key> | Nullish,
): LiveRowState<Row>;
export function useLiveRowSuspense<Value = unknown>(
  db: Watchable | Nullish,
  key: string | Nullish,
): LiveRowState<Value>;
export function useLiveRowSuspense(...args: Args): unknown {
  return useReady(ROW, args);
}

/**
 * Returns the state of a connection (`db.connect`), and follows its changes. Without a connection, and on a server, it is `stopped`.
 */
export function useConnection<State extends ConnectionState>(
  connection: ObservableConnection<State> | Nullish,
): State {
  return useLiveState(CONNECTION, [connection]) as State;
}
