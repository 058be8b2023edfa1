/** A store with numbered rows, and counts of the reports of its live queries. */
import { memory, type OpenOptions, open, type Store } from '../../src/index.js';
import type { Entry } from '../support/models/store-model.js';

export const keyOf = (at: number) => `k${String(at).padStart(4, '0')}`;
export const rowsOf = (count: number): Entry[] =>
  Array.from({ length: count }, (_, at) => [keyOf(at), { at, kind: at % 3 }]);

export async function storeOf(count = 0, options: OpenOptions = {}): Promise<Store> {
  const db = await open('live', { storage: memory(), ...options });
  if (count > 0) await db.putMany(rowsOf(count));
  return db;
}

/** Counts the calls of a listener. */
export function listened(shown: { subscribe(listener: () => void): () => void }) {
  const heard = { calls: 0, stop: () => {} };
  heard.stop = shown.subscribe(() => {
    heard.calls += 1;
  });
  return heard;
}

export const keysOf = (shown: { get(): { rows: readonly unknown[] } }) =>
  shown.get().rows.map((row) => (row as [string])[0]);
export const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => keyOf(from + at));
