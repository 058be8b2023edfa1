/** Queries the indexes of the demo, and all rows without them. */
import type { City, CityStore, IndexedStore } from './cities.js';

/** The order of a country's cities. */
export type By = 'population' | 'name';

/** A country, with its number of rows. */
export interface Country {
  readonly code: string;
  readonly rows: number;
}

/** The result of a query. */
export interface Answer {
  readonly cities: readonly City[];
  /** Rows that the query read. */
  readonly rows: number;
  readonly ms: number;
}

/** Returns the cities of a country in an order, by an index. */
export function citiesOf({ cities }: IndexedStore, country: string, by: By) {
  const all = cities.where({ country });
  return by === 'name' ? all.orderBy('name') : all.orderBy('population', 'desc');
}

/** Writes the same query as a program would. */
export function callOf(country: string, by: By, limit: number): string {
  const order = by === 'name' ? `'name'` : `'population', 'desc'`;
  return `db.cities.where({ country: '${country}' }).orderBy(${order}).limit(${limit})`;
}

/** Finds the first cities of a country, by an index. */
export async function ask(
  store: IndexedStore,
  country: string,
  by: By,
  limit: number,
  signal?: AbortSignal,
): Promise<Answer> {
  const startMs = performance.now();
  const cities = await citiesOf(store, country, by).limit(limit).toArray({ signal });
  return { cities, rows: cities.length, ms: performance.now() - startMs };
}

/**
 * Finds the same without an index: reads every row, since any may be among the first, and sorts the rows of the
 * country.
 */
export async function askWithoutIndex(
  store: CityStore,
  country: string,
  by: By,
  limit: number,
  signal: AbortSignal,
): Promise<Answer> {
  const startMs = performance.now();
  const found: City[] = [];
  let rows = 0;
  for await (const city of store.cities) {
    signal.throwIfAborted();
    rows += 1;
    if (city.country === country) found.push(city);
  }
  found.sort(by === 'name' ? byName : byPopulation);
  return { cities: found.slice(0, limit), rows, ms: performance.now() - startMs };
}

function byName(a: City, b: City): number {
  return compare(a.name, b.name) || compare(a.id, b.id);
}

/** An unknown population is less than any number. */
function byPopulation(a: City, b: City): number {
  return (b.population ?? -1) - (a.population ?? -1) || compare(b.id, a.id);
}

/** Compares by UTF-8 bytes, an order that differs from UTF-16 where there are surrogates. */
function compare(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  if (at === a.length || at === b.length) return a.length - b.length;
  const [x = 0, y = 0] = [a, b].map((text) => {
    const unit = text.charCodeAt(at);
    return (unit & 0xf800) === 0xd800 ? unit + 0x10000 : unit;
  });
  return x - y;
}

/** Lists all countries: leaps from each one past all of its entries, so most rows are not read. */
export async function countriesIn({ cities }: IndexedStore): Promise<Country[]> {
  const found: Country[] = [];
  for (;;) {
    const last = found.at(-1)?.code;
    const after = last === undefined ? cities.all() : cities.where({ country: { gt: last } });
    const next = await after.orderBy('country').first();
    if (next === undefined) return found;
    const { country: code } = next;
    found.push({ code, rows: await cities.where({ country: code }).count() });
  }
}

/** Resolves when both indexes are there: a query of one waits for it. */
export async function whenIndexed({ cities }: IndexedStore): Promise<void> {
  for (const last of ['population', 'name'] as const) {
    await cities.orderBy(['country', last]).count();
  }
}
