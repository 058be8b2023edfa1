/**
 * For Angular: lists, rows and counts as signals, kept up to date until what injects them is destroyed. Arguments may be
 * signals or functions: what these read is followed.
 */
import type { Signal } from '@angular/core';
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
import { type Args, COUNT, ROW, ROWS } from './observed.js';
import type { Entry, LiveIndexEntry, MaybeGetter, Nullish } from './types.js';

export type { Within };

/**
 * The rows of a query, or of a range of a store or a branch, now and whenever one of them changes. Without a query or a
 * store, and on a server, it is `loading`. When the arguments change, the rows shown last stay, with `isStale`, until the new
 * ones are there.
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

/** The row of a key of a table, or of a store or a branch, now and whenever it changes. Without a key it is `loading`, too. */
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

/** The number of rows of a query, whatever its `offset` and `limit`, or of a range. */
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
