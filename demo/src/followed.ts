import { live, type Query } from 'hedgerow';
import type { City } from './cities.js';

/**
 * Calls `show` with the cities of a query, now and whenever one of them changes, and with the keys of the changed ones.
 * Returns a function that stops it.
 */
export function follow<Definition>(
  query: Query<City, Definition>,
  show: (cities: readonly City[], changed: ReadonlySet<string>) => void,
  onError: (failure: unknown) => void,
): () => void {
  const list = live(query);
  let shown: ReadonlySet<City> | undefined;
  const told = () => {
    const { status, rows, error } = list.get();
    if (status === 'error') onError(error);
    if (status !== 'ready') return;
    // An unchanged city is the same object.
    const changed = shown === undefined ? [] : rows.filter((city) => !shown?.has(city));
    shown = new Set(rows);
    show(rows, new Set(changed.map(({ id }) => id)));
  };
  list.subscribe(told);
  told();
  return () => list.close();
}
