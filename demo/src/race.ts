/**
 * The race: the same rows are stored in two ways, one after the other. Both ways begin with one array in memory and an
 * empty database, and end when the last transaction has completed.
 */
import { destroy, open } from 'hedgerow';
import { type City, type CityStore, fetchFile, rowsUrl, STORE } from './cities.js';
import { plainCities } from './city-table.js';
import { BAD_MS, type FrameRecorder, kindOf, nextFrame } from './frames.js';
import type { Lane, LaneName, Race } from './race-picture.js';

export type { Lane, LaneName, Race };

/** How long a race is. */
export interface Course {
  readonly rows: number;
  /** Puts are requested until then; about as long again passes until they are stored. */
  readonly requestMs: number;
}

/** For a visitor, who waits. */
export const SHORT: Course = { rows: 20_000, requestMs: 1_500 };

/** All rows, however long it takes. */
export const WHOLE: Course = {
  rows: Number.POSITIVE_INFINITY,
  requestMs: Number.POSITIVE_INFINITY,
};

const HEDGEROW_NAME = `${STORE}-race`;
const DATABASE_NAME = `${STORE}-race-puts`;
const OBJECT_STORE = 'rows';

/** Puts between two looks at the clock, and between two reports. */
const PART_ROWS = 500;

/** The bee flies so long before and after, so that a standstill is seen. */
const FLIGHT_MS = 250;

/** The machine may be busy for a while with what the lane before has left. */
const SETTLE_MS = 600;

/** A lane while it runs: its frames, and who hears of its rows and of its end. */
export interface Runner {
  readonly recorder: FrameRecorder;
  readonly onRows: (rows: number) => void;
  readonly onEnd: (lane: Lane) => void;
}

/** What a way of storing came to, by the clock of the recorder. */
interface Run {
  readonly startMs: number;
  readonly endMs: number;
  readonly requested: number;
  readonly rows: number;
  readonly longestSliceMs?: number;
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Cities from all over the world: the first rows of the shuffled file. */
export async function raceRows(course: Course): Promise<City[]> {
  const { body } = await fetchFile(rowsUrl('shuffled'));
  if (body === null) return [];
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const rows: City[] = [];
  let rest = '';
  while (rows.length < course.rows) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.slice(0, course.rows - rows.length)) rows.push(JSON.parse(line));
  }
  await reader.cancel();
  return rows;
}

/** Deletes what an earlier race has left, also one whose tab was closed. */
export async function clearTrack(): Promise<void> {
  await Promise.all([destroy(HEDGEROW_NAME), settled(indexedDB.deleteDatabase(DATABASE_NAME))]);
}

/**
 * Runs both lanes. Returns what they came to, and the store of Hedgerow's lane, which stays open; `onDeleted` hears when
 * the race of another tab deletes it.
 */
export async function race(
  rows: readonly City[],
  course: Course,
  runners: Readonly<Record<LaneName, Runner>>,
  onDeleted: () => void,
): Promise<{ result: Race; store: CityStore }> {
  const puts = await laneOf(runners.puts, (nowMs) =>
    storeByPuts(rows, course, nowMs, runners.puts.onRows),
  );
  await wait(SETTLE_MS);
  const store = await open(HEDGEROW_NAME, { tables: { cities: plainCities }, onDeleted });
  const hedgerow = await laneOf(runners.hedgerow, (nowMs) =>
    storeInHedgerow(store, rows, nowMs, runners.hedgerow.onRows),
  );
  await settled(indexedDB.deleteDatabase(DATABASE_NAME));
  return { result: { rows: rows.length, puts, hedgerow }, store };
}

async function laneOf(
  { recorder, onEnd }: Runner,
  work: (nowMs: () => number) => Promise<Run>,
): Promise<Lane> {
  recorder.start();
  let run: Run;
  try {
    await wait(FLIGHT_MS);
    run = await work(() => recorder.nowMs);
    await wait(FLIGHT_MS);
  } finally {
    await recorder.stop();
  }
  const { startMs, endMs, ...counts } = run;
  const gaps = recorder.between(startMs, endMs);
  // The puts are one task of the page. Hedgerow's slices are known: what is longer than them is the machine's.
  const isBlamed = run.longestSliceMs === undefined || run.longestSliceMs >= BAD_MS;
  const lane = {
    ...counts,
    ms: endMs - startMs,
    worstGapMs: recorder.worst(startMs, endMs)?.ms ?? 0,
    gaps: gaps.map(({ endMs: atMs, ms }) => {
      return { endMs: atMs - startMs, ms, kind: kindOf(ms, isBlamed) };
    }),
  };
  onEnd(lane);
  return lane;
}

async function storeInHedgerow(
  store: CityStore,
  rows: readonly City[],
  nowMs: () => number,
  onRows: (rows: number) => void,
): Promise<Run> {
  const startMs = nowMs();
  const { longestSliceMs } = await store.cities.putMany(rows, {
    onProgress: (progress) => onRows(progress.rows),
  });
  const endMs = nowMs();
  const requested = rows.length;
  return { startMs, endMs, requested, rows: await store.cities.count(), longestSliceMs };
}

async function storeByPuts(
  rows: readonly City[],
  { requestMs }: Course,
  nowMs: () => number,
  onRows: (rows: number) => void,
): Promise<Run> {
  const request = indexedDB.open(DATABASE_NAME, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(OBJECT_STORE, { keyPath: 'id' });
  const database = await settled(request);
  try {
    await nextFrame();
    const startMs = nowMs();
    const requested = await putEach(database, rows, requestMs, onRows);
    const endMs = nowMs();
    const stored = database.transaction(OBJECT_STORE).objectStore(OBJECT_STORE);
    return { startMs, endMs, requested, rows: await settled(stored.count()) };
  } finally {
    database.close();
  }
}

/** One put for each row, all in one transaction. Returns how many were requested, when they are stored. */
function putEach(
  database: IDBDatabase,
  rows: readonly City[],
  requestMs: number,
  onRows: (rows: number) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let requested = 0;
    const transaction = database.transaction(OBJECT_STORE, 'readwrite', { durability: 'relaxed' });
    transaction.oncomplete = () => resolve(requested);
    // A full disk aborts without an error event.
    transaction.onabort = () => reject(transaction.error);
    const objects = transaction.objectStore(OBJECT_STORE);
    const startMs = performance.now();
    for (const row of rows) {
      const request = objects.put(row);
      requested += 1;
      if (requested % PART_ROWS > 0) continue;
      const count = requested;
      request.onsuccess = () => onRows(count);
      if (performance.now() - startMs > requestMs) break;
    }
  });
}

/** The result of a request. */
function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
