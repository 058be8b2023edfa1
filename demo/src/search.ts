/** Prefix search: a scan of the keys that begin with what was typed. */
import type { Store } from 'hedgerow';
import type { City } from './cities.js';
import { prefixOf } from './key.js';

/** Cities in the list. */
const LIST_LENGTH = 9;

/** Cities on the map. */
const MAP_LENGTH = 2000;

/** What a search found. */
export interface Found {
  readonly prefix: string;
  readonly cities: readonly City[];
  /** All that match. */
  readonly matches: number;
  readonly scanMs: number;
  readonly countMs: number;
}

/** The first cities whose key begins with what was typed, and how many there are. */
export async function search(store: Store, typed: string): Promise<Found> {
  const prefix = prefixOf(typed);
  const startMs = performance.now();
  const cities = await store.scan<City>({ prefix, limit: LIST_LENGTH }).values().toArray();
  const scannedMs = performance.now();
  const matches = await store.count({ prefix });
  const countedMs = performance.now();
  return {
    prefix,
    cities,
    matches,
    scanMs: scannedMs - startMs,
    countMs: countedMs - scannedMs,
  };
}

/** Many of the matches, for the map. */
export function forMap(store: Store, prefix: string, signal: AbortSignal): Promise<City[]> {
  return store.scan<City>({ prefix, limit: MAP_LENGTH, signal }).values().toArray();
}
