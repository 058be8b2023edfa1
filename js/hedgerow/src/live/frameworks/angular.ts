/**
 * Lists, rows and counts as Angular signals, kept up to date until their injector is destroyed. Arguments may be
 * signals or functions; signals that these read are followed.
 */
import type { Signal } from '@angular/core';
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
import { createAngularState, type Within } from './angular-state.js';
import { CONNECTION, type ObservableConnection } from './observed-connection.js';
import { type Args, COUNT, ROW, ROWS } from './observed-query.js';
import type { Entry, LiveIndexEntry, MaybeGetter, Nullish } from './types.js';

export type { Within };

/**
 * Returns the rows of a query, or of a range of a store or a branch, and follows their changes. The state is `loading`
 * without a query or a store, and on a server. When the arguments change, the last rows stay, with `isStale`, until the
 * new ones are there.
 */
export function injectLive<Row>(
  query: MaybeGetter<LiveQuery<Row> | Nullish>,
  within?: Within,
): Signal<LiveState<Row>>;
export function injectLive<Value = unknown>(
  db: MaybeGetter<Watchable | Nullish>,
  options: MaybeGetter<LiveIndexOptions>,
  within?: Within,
): Signal<LiveState<LiveIndexEntry<Value>>>;
export function injectLive<Value = unknown>(
  db: MaybeGetter<Watchable | Nullish>,
  options?: MaybeGetter<LiveOptions | undefined>,
  within?: Within,
): Signal<LiveState<Entry<Value>>>;
export function injectLive(...args: Args): Signal<unknown> {
  return createAngularState(injectLive, ROWS, args);
}

/**
 * Returns the row of a key of a table, store or branch, and follows its changes. It is `loading` without a key, too.
 */
export function injectLiveRow<Row, Key>(
  table: MaybeGetter<LiveTable<Row, Key> | Nullish>,
  key: MaybeGetter<NoInfer<Key> | Nullish>,
  within?: Within,
): Signal<LiveRowState<Row>>;
export function injectLiveRow<Value = unknown>(
  db: MaybeGetter<Watchable | Nullish>,
  key: MaybeGetter<string | Nullish>,
  within?: Within,
): Signal<LiveRowState<Value>>;
export function injectLiveRow(...args: Args): Signal<unknown> {
  return createAngularState(injectLiveRow, ROW, args);
}

/** Counts the rows of a query, whatever its `offset` and `limit`, or of a range. */
export function injectLiveCount(
  query: MaybeGetter<LiveQuery<unknown> | Nullish>,
  within?: Within,
): Signal<LiveCountState>;
export function injectLiveCount(
  db: MaybeGetter<Watchable | Nullish>,
  range?: MaybeGetter<LiveCountRange | undefined>,
  within?: Within,
): Signal<LiveCountState>;
export function injectLiveCount(...args: Args): Signal<unknown> {
  return createAngularState(injectLiveCount, COUNT, args);
}

/**
 * Returns the state of a connection (`db.connect`), and follows its changes. Without a connection, and on a server, it is `stopped`.
 */
export function injectConnection<State extends ConnectionState>(
  connection: MaybeGetter<ObservableConnection<State> | Nullish>,
  within?: Within,
): Signal<State>;
export function injectConnection(...args: Args): Signal<unknown> {
  return createAngularState(injectConnection, CONNECTION, args);
}
