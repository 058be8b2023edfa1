/** Searches by prefix: scans the keys that begin with the typed text. */
import type { City, CityStore } from './cities.js';
import { prefixOf } from './key.js';

/** Cities in the list. */
const LIST_LENGTH = 9;

/** Cities on the map. */
const MAP_LENGTH = 2000;

/** The result of a search. */
export interface Found {
  readonly prefix: string;
  readonly cities: readonly City[];
  /** The number of all matches. */
  readonly matches: number;
  readonly scanMs: number;
  readonly countMs: number;
}

/** Finds the first cities whose key begins with the typed text, and counts all. */
export async function search(store: CityStore, typed: string): Promise<Found> {
  const prefix = prefixOf(typed);
  const matching = store.cities.where({ id: { startsWith: prefix } });
  const startMs = performance.now();
  const cities = await matching.limit(LIST_LENGTH).toArray();
  const scannedMs = performance.now();
  const matches = await matching.count();
  const countedMs = performance.now();
  return {
    prefix,
    cities,
    matches,
    scanMs: scannedMs - startMs,
    countMs: countedMs - scannedMs,
  };
}

/** Reads many of the matches, for the map. */
export function forMap(store: CityStore, prefix: string, signal: AbortSignal): Promise<City[]> {
  const matching = store.cities.where({ id: { startsWith: prefix } });
  return matching.limit(MAP_LENGTH).toArray({ signal });
}
