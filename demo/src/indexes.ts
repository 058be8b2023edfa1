/** The indexes of the demo, and what is asked of them, and of all rows without them. */
import type { Store } from 'hedgerow';
import type { City } from './cities.js';

/** Both begin with the country, so one country is one range of either. */
export const INDEXES = {
  byPopulation: { path: ['/country', '/population'] },
  byName: { path: ['/country', '/name'] },
} as const;

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

/** The scan that finds the first cities of a country. */
export function queryFor(country: string, by: By, limit: number) {
  const ofCountry = { equals: country, limit };
  return by === 'name'
    ? { index: 'byName', ...ofCountry }
    : { index: 'byPopulation', ...ofCountry, reverse: true };
}

/** The first cities of a country, by an index. */
export async function ask(
  store: Store,
  country: string,
  by: By,
  limit: number,
  signal?: AbortSignal,
): Promise<Answer> {
  const query = { ...queryFor(country, by, limit), signal };
  const startMs = performance.now();
  const cities = await store.scan<City>(query).values().toArray();
  return { cities, rows: cities.length, ms: performance.now() - startMs };
}

/**
 * The same without an index: every row is read, since any may be among the first, and those of
 * the country are sorted.
 */
export async function askWithoutIndex(
  store: Store,
  country: string,
  by: By,
  limit: number,
  signal: AbortSignal,
): Promise<Answer> {
  const startMs = performance.now();
  const found: City[] = [];
  let rows = 0;
  for await (const city of store.scan<City>({ signal }).values()) {
    rows += 1;
    const isOrdered = by === 'name' || city.population !== undefined;
    if (city.country === country && isOrdered) found.push(city);
  }
  found.sort(by === 'name' ? byName : byPopulation);
  return { cities: found.slice(0, limit), rows, ms: performance.now() - startMs };
}

function byName(a: City, b: City): number {
  return compare(a.name, b.name) || compare(a.id, b.id);
}

function byPopulation(a: City, b: City): number {
  return (b.population ?? 0) - (a.population ?? 0) || compare(b.id, a.id);
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
export async function countriesIn(store: Store): Promise<Country[]> {
  const found: Country[] = [];
  for (;;) {
    const gt = found.at(-1)?.code;
    const [entry] = await store.scan({ index: 'byName', gt, limit: 1 }).toArray();
    if (entry === undefined) return found;
    const [code] = entry[2] as readonly [string, string];
    found.push({ code, rows: await store.count({ index: 'byName', equals: code }) });
  }
}
