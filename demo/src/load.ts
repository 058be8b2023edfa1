/** The load: a stream of rows from the server into the store. */
import type { IngestResult, Store } from 'hedgerow';
import { type City, FetchFailure, fetchFile, type Meta, type Order, rowsUrl } from './cities.js';
import { rowsOf } from './ndjson.js';

/** How far a load has come. */
export interface LoadProgress {
  /** Bytes that have arrived, of all. */
  readonly bytes: number;
  readonly totalBytes: number;
  /** Rows that the store has taken, of all. */
  readonly rows: number;
  readonly totalRows: number;
  /** Rows whose bytes IndexedDB has. */
  readonly durableRows: number;
  /** Since the first byte was asked for. */
  readonly ms: number;
}

/** What a load came to. */
export interface LoadResult {
  readonly result: IngestResult;
  /** From the request to the durable commit. */
  readonly ms: number;
  readonly bytes: number;
}

/** Loads all rows; calls `onProgress` at most once a frame or so. */
export async function load(
  store: Store,
  order: Order,
  onProgress: (progress: LoadProgress) => void,
  onRows: (rows: readonly City[]) => void,
): Promise<LoadResult> {
  const meta = (await (await fetchFile('data/cities.meta.json')).json()) as Meta;
  const startMs = performance.now();
  const response = await fetchFile(rowsUrl(order));
  if (response.body === null) throw new FetchFailure(response.url, response.status);

  let bytes = 0;
  const rows = rowsOf<City>(response.body, {
    onBytes: (count) => {
      bytes += count;
    },
    onRows,
  });
  const result = await store.putMany(rows, {
    key: '/id',
    onProgress: ({ rows, durableRows }) =>
      onProgress({
        bytes,
        totalBytes: meta.bytes,
        rows,
        totalRows: meta.rows,
        durableRows,
        ms: performance.now() - startMs,
      }),
  });
  return { result, ms: performance.now() - startMs, bytes };
}
