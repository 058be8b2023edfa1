/** Loads the bytes of a response straight from the server into the store. */
import type { WriteResult } from 'hedgerow';
import { type CityStore, fetchFile, type Meta, type Order, rowsUrl } from './cities.js';

/** The progress of a load. */
export interface LoadProgress {
  /** Bytes that the store has taken. */
  readonly bytes: number;
  /** Rows that the store has taken, of all. */
  readonly rows: number;
  readonly totalRows: number;
  /** Rows whose bytes IndexedDB has. */
  readonly durableRows: number;
  /** Since the request for the first byte. */
  readonly ms: number;
}

/** The result of a load. */
export interface LoadResult {
  readonly result: WriteResult;
  /** From the request to the durable commit. */
  readonly ms: number;
}

/**
 * Loads all rows; calls `onProgress` at most once a frame or so. `onCopy` gets a second response with the same body.
 */
export async function load(
  store: CityStore,
  order: Order,
  onProgress: (progress: LoadProgress) => void,
  onCopy: (copy: Response) => void,
): Promise<LoadResult> {
  const meta = (await (await fetchFile('data/cities.meta.json')).json()) as Meta;
  const startMs = performance.now();
  const response = await fetchFile(rowsUrl(order));
  onCopy(response.clone());
  const result = await store.cities.putMany(response, {
    onProgress: ({ rows, bytes, durableRows }) =>
      onProgress({
        bytes,
        rows,
        totalRows: meta.rows,
        durableRows,
        ms: performance.now() - startMs,
      }),
  });
  return { result, ms: performance.now() - startMs };
}
