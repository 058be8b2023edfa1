/**
 * The same rows, twice: by `putMany` into a Hedgerow store, and by one IndexedDB `put`
 * each. Both from one array in memory into an empty database, which is deleted afterwards.
 */
import { destroy, open } from 'hedgerow';
import { type City, STORE } from './cities.js';
import { plainCities } from './city-table.js';
import { type FrameRecorder, nextFrame } from './frames.js';

const HEDGEROW_NAME = `${STORE}-comparison`;
const DATABASE_NAME = `${STORE}-comparison-puts`;
const OBJECT_STORE = 'rows';

/** How puts are asked for: all in one go, or in parts between which the page may go on. */
export type Manner = 'all' | 'parts';

const PART_ROWS = 500;

/** The machine may be busy for a while with what the side before has left. */
const SETTLE_MS = 600;

/** A side's time, and the longest gap between frames within it. */
export interface Side {
  readonly ms: number;
  readonly worstGapMs: number;
}

/** What the comparison came to. */
export interface Comparison {
  readonly rows: number;
  readonly hedgerow: Side;
  readonly indexedDb: Side;
}

/** Which part is running, and how many rows it has taken. */
export type Report = (part: 'hedgerow' | 'indexedDb' | 'deleting', rows: number) => void;

/** Runs both sides. The recorder must be running. */
export async function compare(
  rows: readonly City[],
  manner: Manner,
  recorder: FrameRecorder,
  report: Report,
): Promise<Comparison> {
  await deleteBoth();
  try {
    const hedgerow = await measure(recorder, () =>
      storeInHedgerow(rows, (count) => report('hedgerow', count)),
    );
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const indexedDb = await measure(recorder, () =>
      storeByPuts(rows, manner, (count) => report('indexedDb', count)),
    );
    return { rows: rows.length, hedgerow, indexedDb };
  } finally {
    report('deleting', 0);
    await deleteBoth();
  }
}

/** Deletes what an earlier comparison may have left when its tab was closed, too. */
async function deleteBoth(): Promise<void> {
  await Promise.all([destroy(HEDGEROW_NAME), settled(indexedDB.deleteDatabase(DATABASE_NAME))]);
}

/** `run` prepares its side, and returns how long the measured part took. */
async function measure(
  recorder: FrameRecorder,
  run: () => Promise<{ startMs: number; endMs: number }>,
): Promise<Side> {
  const offsetMs = performance.now() - recorder.nowMs;
  const { startMs, endMs } = await run();
  await nextFrame();
  await nextFrame();
  const worst = recorder.worst(startMs - offsetMs, endMs - offsetMs);
  return { ms: endMs - startMs, worstGapMs: worst?.ms ?? 0 };
}

async function storeInHedgerow(rows: readonly City[], onRows: (rows: number) => void) {
  const store = await open(HEDGEROW_NAME, { tables: { cities: plainCities } });
  try {
    const startMs = performance.now();
    await store.cities.putMany(rows, { onProgress: (progress) => onRows(progress.rows) });
    return { startMs, endMs: performance.now() };
  } finally {
    await store.close();
  }
}

async function storeByPuts(rows: readonly City[], manner: Manner, onRows: (rows: number) => void) {
  const request = indexedDB.open(DATABASE_NAME, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(OBJECT_STORE, { keyPath: 'id' });
  const database = await settled(request);
  try {
    onRows(0);
    // What the page shows of this side should be seen before it may stand still.
    await nextFrame();
    await nextFrame();
    const startMs = performance.now();
    await putAll(database, rows, manner, onRows);
    return { startMs, endMs: performance.now() };
  } finally {
    database.close();
  }
}

/** Resolves when the transaction has completed. */
function putAll(
  database: IDBDatabase,
  rows: readonly City[],
  manner: Manner,
  onRows: (rows: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(OBJECT_STORE, 'readwrite', { durability: 'relaxed' });
    transaction.oncomplete = () => resolve();
    // A full disk aborts without an error event.
    transaction.onabort = () => reject(transaction.error);
    const objects = transaction.objectStore(OBJECT_STORE);
    const putFrom = (start: number) => {
      const end = Math.min(start + PART_ROWS, rows.length);
      let last: IDBRequest | undefined;
      for (let index = start; index < end; index++) last = objects.put(rows[index]);
      if (last === undefined) return;
      last.onsuccess = () => {
        onRows(end);
        if (manner === 'parts') putFrom(end);
      };
      if (manner === 'all') putFrom(end);
    };
    putFrom(0);
  });
}

/** The result of a request. */
function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
