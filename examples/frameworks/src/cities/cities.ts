/** The store of the cities, filled from the file that the demo makes. */
import { open, rowType, table } from 'hedgerow';
import meta from '../../../../demo/public/data/cities.meta.json?raw';
import fileUrl from '../../../../demo/public/data/cities.ndjson?url';
import type { City } from '../../../../demo/src/cities.js';
import { prefixOf } from '../../../../demo/src/key.js';
import { opened } from '../common/opened.js';

export type { City };

const cities = table({ schema: rowType<City>(), key: 'id' });

export const db = await opened(open('cities', { tables: { cities } }));

/** The number of cities in the file. */
export const TOTAL: number = JSON.parse(meta).rows;

/** Loads all cities in one commit: the bytes of the file, straight into the store. */
export async function loadCities(onRows: (rows: number) => void): Promise<void> {
  const response = await fetch(fileUrl);
  await db.cities.putMany(response, { onProgress: ({ rows }) => onRows(rows) });
}

/** Returns the number, from 0, for typed text: a number from 1, or the beginning of a name. */
export async function numberOf(typed: string): Promise<number> {
  const text = typed.replaceAll(/[\s,.]/g, '');
  return /^\d+$/.test(text) ? Number(text) - 1 : db.cities.rank(prefixOf(typed));
}

/** Puts a place before all others; the newest is the first. */
export function putInFront(): Promise<unknown> {
  const id = `!${Number.MAX_SAFE_INTEGER - Date.now()}`;
  const place = { name: 'A new place', country: 'SJ', region: '', district: '' };
  return db.cities.put({ id, ...place, lat: 78.2, lng: 15.6 });
}

/** Deletes the places of `putInFront`. */
export const removeNew = () => db.cities.deleteMany({ id: { startsWith: '!' } });
