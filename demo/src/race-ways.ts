/** The ways to store rows that the race compares, each with its own empty database, in the order in which they run. */
import { destroy, open } from 'hedgerow';
import { type City, type CityStore, STORE } from './cities.js';
import { plainCities } from './city-table.js';

/** The length of a race. */
export interface Course {
  readonly rows: number;
  /** The time for requesting puts; storing them takes about as long again. */
  readonly requestMs: number;
}

/** The requests of a way, and the moment when their rows are stored. Only Hedgerow has a longest slice. */
export interface Stored {
  readonly requested: number;
  readonly longestSliceMs?: number;
}

/** An empty database that is open. */
export interface Track {
  store(rows: readonly City[], course: Course, onRows: (rows: number) => void): Promise<Stored>;
  count(): Promise<number>;
  close(): unknown;
}

/** A way to store rows. */
export interface Way {
  /** A part of the ids of its elements. */
  readonly id: string;
  /** Its name in a sentence. */
  readonly name: string;
  readonly title: string;
  readonly code: string;
  open(): Promise<Track>;
  /** Deletes its database, if there is one. */
  clear(): Promise<unknown>;
}

const PUTS_NAME = `${STORE}-race-puts`;
const DEXIE_NAME = `${STORE}-race-dexie`;
const HEDGEROW_NAME = `${STORE}-race`;
const OBJECT_STORE = 'rows';

/** Puts between two looks at the clock, and between two reports. */
const PART_ROWS = 500;

const PUTS: Way = {
  id: 'puts',
  name: 'one put per row',
  title: 'One put per row',
  code: 'for (const row of rows) objects.put(row)',
  async open() {
    const request = indexedDB.open(PUTS_NAME, 1);
    request.onupgradeneeded = () =>
      request.result.createObjectStore(OBJECT_STORE, { keyPath: 'id' });
    const database = await settled(request);
    return {
      store: (rows, { requestMs }, onRows) => putEach(database, rows, requestMs, onRows),
      count: () => settled(database.transaction(OBJECT_STORE).objectStore(OBJECT_STORE).count()),
      close: () => database.close(),
    };
  },
  clear: () => settled(indexedDB.deleteDatabase(PUTS_NAME)),
};

const DEXIE: Way = {
  id: 'dexie',
  name: 'Dexie',
  title: 'Dexie: bulkPut',
  code: 'await db.cities.bulkPut(rows)',
  async open() {
    const { Dexie } = await import('dexie');
    const db = new Dexie(DEXIE_NAME, { chromeTransactionDurability: 'relaxed' });
    db.version(1).stores({ cities: 'id' });
    await db.open();
    const cities = db.table<City, string>('cities');
    return {
      async store(rows) {
        await cities.bulkPut(rows);
        return { requested: rows.length };
      },
      count: () => cities.count(),
      close: () => db.close(),
    };
  },
  clear: () => settled(indexedDB.deleteDatabase(DEXIE_NAME)),
};

export const HEDGEROW: Way = {
  id: 'hedgerow',
  name: 'Hedgerow',
  title: 'Hedgerow: putMany',
  code: 'await db.cities.putMany(rows)',
  async open() {
    const store = await openHedgerow();
    return {
      async store(rows, _course, onRows) {
        const { stats } = await store.cities.putMany(rows, {
          onProgress: (progress) => onRows(progress.rows),
        });
        return { requested: rows.length, longestSliceMs: stats.longestSliceMs };
      },
      count: () => store.cities.count(),
      close: () => store.close(),
    };
  },
  clear: () => destroy(HEDGEROW_NAME),
};

export const WAYS: readonly Way[] = [PUTS, DEXIE, HEDGEROW];

/** Opens the store of Hedgerow's lane. `onDeleted` is called when the race of another tab deletes it. */
export function openHedgerow(onDeleted?: () => void): Promise<CityStore> {
  const tables = { cities: plainCities };
  return open(HEDGEROW_NAME, { tables, ...(onDeleted && { advanced: { onDeleted } }) });
}

/** Puts each row on its own, all in one transaction. */
function putEach(
  database: IDBDatabase,
  rows: readonly City[],
  requestMs: number,
  onRows: (rows: number) => void,
): Promise<Stored> {
  return new Promise((resolve, reject) => {
    let requested = 0;
    const transaction = database.transaction(OBJECT_STORE, 'readwrite', { durability: 'relaxed' });
    transaction.oncomplete = () => resolve({ requested });
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

/** Resolves to the result of a request. */
function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
