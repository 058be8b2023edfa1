import { type LiveQuery, type LiveState, live } from 'hedgerow';
import { useMemo, useSyncExternalStore } from 'react';

const NOTHING: LiveState<never> = {
  status: 'loading',
  rows: [],
  offset: 0,
  isStale: false,
  error: undefined,
};
const never = () => () => {};

/** Returns the rows of a query, now and whenever one of them changes; an empty list before there is a query. */
export function useLive<Row>(query: LiveQuery<Row> | undefined): LiveState<Row> {
  const list = useMemo(() => query && live(query), [query]);
  return useSyncExternalStore(list?.subscribe ?? never, list?.get ?? (() => NOTHING));
}
