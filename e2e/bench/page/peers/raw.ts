/** IndexedDB without a library: one object store of rows, one of blocks of bytes. */
import type { Row } from '../rows.js';
import { type Database, type Limits, NAMES, type OpenSetting } from './database.js';

export function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function completed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

export function openIndexedDb(): Promise<IDBDatabase> {
  const request = indexedDB.open(NAMES.indexedDb, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore('rows', { keyPath: 'id' });
    request.result.createObjectStore('blocks');
  };
  return settled(request);
}

/** Runs `write` in one transaction and waits until it is complete. */
export function inTransaction(
  db: IDBDatabase,
  store: 'rows' | 'blocks',
  durability: OpenSetting['durability'],
  write: (store: IDBObjectStore) => void,
): Promise<void> {
  const transaction = db.transaction(store, 'readwrite', { durability });
  const done = completed(transaction);
  write(transaction.objectStore(store));
  return done;
}

export function storedRows(db: IDBDatabase): IDBObjectStore {
  return db.transaction('rows').objectStore('rows');
}

/** Returns the range of keys that a scan reads. */
export function rangeOf({ prefix, from }: Limits): IDBKeyRange | null {
  if (prefix !== undefined) return IDBKeyRange.bound(prefix, `${prefix}\uffff`);
  return from === undefined ? null : IDBKeyRange.lowerBound(from);
}

/** Finds a row with a cursor that skips `n` rows at once. */
function rowAt(store: IDBObjectStore, n: number): Promise<unknown> {
  const request = store.openCursor();
  return new Promise((resolve, reject) => {
    let isThere = n === 0;
    request.onsuccess = () => {
      const cursor = request.result;
      if (cursor === null || isThere) resolve(cursor?.value);
      else cursor.advance(n);
      isThere = true;
    };
    request.onerror = () => reject(request.error);
  });
}

export async function openRaw({ durability }: OpenSetting): Promise<Database> {
  const db = await openIndexedDb();
  const write = (work: (store: IDBObjectStore) => void) =>
    inTransaction(db, 'rows', durability, work);
  return {
    // One `put` for each row, in one transaction.
    load: async (rows: readonly Row[]) => {
      await write((store) => {
        for (const row of rows) store.put(row);
      });
      return undefined;
    },
    remove: (ids) =>
      write((store) => {
        for (const id of ids) store.delete(id);
      }),
    put: (row) => write((store) => store.put(row)),
    get: (id) => settled(storedRows(db).get(id)),
    getMany: (ids) => {
      const store = storedRows(db);
      return Promise.all(ids.map((id) => settled(store.get(id))));
    },
    scan: (limits) => settled(storedRows(db).getAll(rangeOf(limits), limits.limit)),
    at: (n) => rowAt(storedRows(db), n),
    rank: (id) => settled(storedRows(db).count(IDBKeyRange.upperBound(id, true))),
    close: async () => db.close(),
  };
}
