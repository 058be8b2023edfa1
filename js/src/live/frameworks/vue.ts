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
import { type Args, COUNT, ROW, ROWS } from './observed.js';
import type { Entry, LiveIndexEntry, Nullish } from './types.js';
import { createVueState } from './vue-state.js';

/**
 * The rows of a query, or of a range of a store or a branch, now and whenever one of them changes. Without a query or a
 * store, and on a server, it is `loading`. When the arguments change, the rows shown last stay, with `isStale`, until the new
 * ones are there. Rows are as they are: no proxies are made of them.
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

/** The row of a key of a table, or of a store or a branch, now and whenever it changes. Without a key it is `loading`, too. */
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

/** The number of rows of a query, whatever its `offset` and `limit`, or of a range. */
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
