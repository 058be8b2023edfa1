/** Describes the rows that the demo stores, and where they come from. */
import type { StoreWith } from 'hedgerow';
import type { indexedCities, plainCities } from './city-table.js';

/** One row of the table; `id` is its key, see `key.js`. */
export interface City {
  readonly id: string;
  readonly name: string;
  /** ISO 3166-1, two letters. */
  readonly country: string;
  /** First-level division; empty where GeoNames has no division. */
  readonly region: string;
  /** Code of the second-level division. */
  readonly district: string;
  /** Absent where unknown. */
  readonly population?: number;
  readonly lat: number;
  readonly lng: number;
}

/** A store of cities, or a branch of one. */
export type CityStore = StoreWith<{ readonly cities: typeof plainCities }>;

/** A store of cities with indexes. */
export type IndexedStore = StoreWith<{ readonly cities: typeof indexedCities }>;

/** The name of the store. */
export const STORE = 'world';

/** The key that the page reads first in a store that holds rows. */
export const FIRST_KEY = 'reykjavik/is/39/1';

/** The order in which rows arrive. */
export type Order = 'sorted' | 'shuffled';

/** The figures that `prepare.mjs` wrote about its files. */
export interface Meta {
  readonly source: string;
  readonly rows: number;
  readonly bytes: number;
  /** The file with the largest cities alone. */
  readonly largest: { readonly rows: number; readonly bytes: number };
}

/** Returns the address of the rows in an order. */
export function rowsUrl(order: Order): string {
  return order === 'sorted' ? 'data/cities.ndjson' : 'data/cities.shuffled.ndjson';
}

/** The error of a server that did not give the requested file. */
export class FetchFailure extends Error {
  override readonly name = 'FetchFailure';
  readonly url: string;
  /** The status of the response, when there was one. */
  readonly status: number | undefined;

  constructor(url: string, status?: number, cause?: unknown) {
    super(`${url}: ${status ?? 'no response'}`, { cause });
    this.url = url;
    this.status = status;
  }
}

/** Fetches a response whose body can be read; throws `FetchFailure`. */
export async function fetchFile(url: string): Promise<Response> {
  let response: Response;
  try {
    // The store is measured: the browser's cache would add its own writes.
    response = await fetch(url, { cache: 'no-store' });
  } catch (cause) {
    throw new FetchFailure(url, undefined, cause);
  }
  if (!response.ok) throw new FetchFailure(url, response.status);
  return response;
}

const regionNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });

/** Returns the English name of a country. */
export function countryName(code: string): string {
  return regionNames.of(code) ?? code;
}
