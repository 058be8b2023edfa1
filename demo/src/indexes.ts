/** What is asked of the indexes of the demo, and of all rows without them. */
import type { City, CityStore, IndexedStore } from './cities.js';

/** What the cities of a country are ordered by. */
export type By = 'population' | 'name';

/** A country, with its number of rows. */
export interface Country {
  readonly code: string;
  readonly rows: number;
}

/** What a query found. */
export interface Answer {
  readonly cities: readonly City[];
  /** Rows that were read for it. */
  readonly rows: number;
  readonly ms: number;
}

/** The cities of a country in an order, by an index. */
export function citiesOf({ cities }: IndexedStore, country: string, by: By) {
  const all = cities.where({ country });
  return by === 'name' ? all.orderBy('name') : all.orderBy('population', 'desc');
}

/** The same, as one would write it in a program. */
export function callOf(country: string, by: By, limit: number): string {
  const order = by === 'name' ? `'name'` : `'population', 'desc'`;
  return `db.cities.where({ country: '${country}' }).orderBy(${order}).limit(${limit})`;
}

/** The first cities of a country, by an index. */
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
 * The same without an index: every row is read, since any may be among the first, and those of
 * the country are sorted.
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

/** Nothing is less than any number. */
function byPopulation(a: City, b: City): number {
  return (b.population ?? -1) - (a.population ?? -1) || compare(b.id, a.id);
}

/** The order of UTF-8 bytes, which is not that of UTF-16 where there are surrogates. */
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

/** All countries: from each a leap past all of its entries, so most rows are not read. */
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

/** Resolves when both indexes are there: what is asked of one waits for it. */
export async function whenIndexed({ cities }: IndexedStore): Promise<void> {
  for (const last of ['population', 'name'] as const) {
    await cities.orderBy(['country', last]).count();
  }
}
