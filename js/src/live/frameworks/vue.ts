/**
 * Composables for Vue 3: lists, rows and counts that are kept up to date until their effect scope is stopped. Arguments may be
 * refs or getters.
 */
import type { ComputedRef, MaybeRefOrGetter } from 'vue';
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
import { type Args, COUNT, ROW, ROWS } from './held.js';
import type { Entry, IndexEntry, Missing } from './types.js';
import { shown } from './vue-shown.js';

/**
 * The rows of a query, or of a range of a store or a branch, now and whenever one of them changes. Without a query or a
 * store, and on a server, it is `loading`. When the arguments change, the rows shown last stay, with `isStale`, until the new
 * ones are there. Rows are as they are: no proxies are made of them.
 */
export function useLive<Row>(
  query: MaybeRefOrGetter<LiveQuery<Row> | Missing>,
): ComputedRef<LiveState<Row>>;
export function useLive<Value = unknown>(
  db: MaybeRefOrGetter<Watchable | Missing>,
  options: MaybeRefOrGetter<LiveIndexOptions>,
): ComputedRef<LiveState<IndexEntry<Value>>>;
export function useLive<Value = unknown>(
  db: MaybeRefOrGetter<Watchable | Missing>,
  options?: MaybeRefOrGetter<LiveOptions | undefined>,
): ComputedRef<LiveState<Entry<Value>>>;
export function useLive(...args: Args): ComputedRef<unknown> {
  return shown(ROWS, args);
}

/** The row of a key of a table, or of a store or a branch, now and whenever it changes. Without a key it is `loading`, too. */
export function useLiveRow<Row, Key>(
  table: MaybeRefOrGetter<LiveTable<Row, Key> | Missing>,
  key: MaybeRefOrGetter<NoInfer<Key> | Missing>,
): ComputedRef<LiveRowState<Row>>;
export function useLiveRow<Value = unknown>(
  db: MaybeRefOrGetter<Watchable | Missing>,
  key: MaybeRefOrGetter<string | Missing>,
): ComputedRef<LiveRowState<Value>>;
export function useLiveRow(...args: Args): ComputedRef<unknown> {
  return shown(ROW, args);
}

/** The number of rows of a query, whatever its `offset` and `limit`, or of a range. */
export function useLiveCount(
  query: MaybeRefOrGetter<LiveQuery<unknown> | Missing>,
): ComputedRef<LiveCountState>;
export function useLiveCount(
  db: MaybeRefOrGetter<Watchable | Missing>,
  range?: MaybeRefOrGetter<LiveCountRange | undefined>,
): ComputedRef<LiveCountState>;
export function useLiveCount(...args: Args): ComputedRef<unknown> {
  return shown(COUNT, args);
}
