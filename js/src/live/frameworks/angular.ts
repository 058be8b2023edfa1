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
import { shown, type Within } from './angular-shown.js';
import { type Args, COUNT, ROW, ROWS } from './held.js';
import type { Entry, Given, IndexEntry, Missing } from './types.js';

export type { Within };

/**
 * The rows of a query, or of a range of a store or a branch, now and whenever one of them changes. Without a query or a
 * store, and on a server, it is `loading`. When the arguments change, the rows shown last stay, with `isStale`, until the new
 * ones are there.
 */
export function injectLive<Row>(
  query: Given<LiveQuery<Row> | Missing>,
  within?: Within,
): Signal<LiveState<Row>>;
export function injectLive<Value = unknown>(
  db: Given<Watchable | Missing>,
  options: Given<LiveIndexOptions>,
  within?: Within,
): Signal<LiveState<IndexEntry<Value>>>;
export function injectLive<Value = unknown>(
  db: Given<Watchable | Missing>,
  options?: Given<LiveOptions | undefined>,
  within?: Within,
): Signal<LiveState<Entry<Value>>>;
export function injectLive(...args: Args): Signal<unknown> {
  return shown(injectLive, ROWS, args);
}

/** The row of a key of a table, or of a store or a branch, now and whenever it changes. Without a key it is `loading`, too. */
export function injectLiveRow<Row, Key>(
  table: Given<LiveTable<Row, Key> | Missing>,
  key: Given<NoInfer<Key> | Missing>,
  within?: Within,
): Signal<LiveRowState<Row>>;
export function injectLiveRow<Value = unknown>(
  db: Given<Watchable | Missing>,
  key: Given<string | Missing>,
  within?: Within,
): Signal<LiveRowState<Value>>;
export function injectLiveRow(...args: Args): Signal<unknown> {
  return shown(injectLiveRow, ROW, args);
}

/** The number of rows of a query, whatever its `offset` and `limit`, or of a range. */
export function injectLiveCount(
  query: Given<LiveQuery<unknown> | Missing>,
  within?: Within,
): Signal<LiveCountState>;
export function injectLiveCount(
  db: Given<Watchable | Missing>,
  range?: Given<LiveCountRange | undefined>,
  within?: Within,
): Signal<LiveCountState>;
export function injectLiveCount(...args: Args): Signal<unknown> {
  return shown(injectLiveCount, COUNT, args);
}
