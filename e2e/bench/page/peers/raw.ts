/** IndexedDB without a library: one object store of rows, one of blocks of bytes. */
import type { Setting } from '../bench-case.js';
import { makeRows, type Row } from '../rows.js';

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

export function openRaw(): Promise<IDBDatabase> {
  const request = indexedDB.open('bench-raw', 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore('rows', { keyPath: 'id' });
    request.result.createObjectStore('blocks');
  };
  return settled(request);
}

/** Opens the database, and closes it after use. */
export async function withRaw<T>(use: (db: IDBDatabase) => Promise<T>): Promise<T> {
  const db = await openRaw();
  try {
    return await use(db);
  } finally {
    db.close();
  }
}

/** Runs `write` in one relaxed transaction and waits until it is complete. */
export function inTransaction(
  db: IDBDatabase,
  store: 'rows' | 'blocks',
  write: (store: IDBObjectStore) => void,
): Promise<void> {
  const transaction = db.transaction(store, 'readwrite', { durability: 'relaxed' });
  const done = completed(transaction);
  write(transaction.objectStore(store));
  return done;
}

/** One `put` for each row, in one transaction. */
export function putRows(db: IDBDatabase, rows: readonly Row[]): Promise<void> {
  return inTransaction(db, 'rows', (store) => {
    for (const row of rows) store.put(row);
  });
}

export function storedRows(db: IDBDatabase): IDBObjectStore {
  return db.transaction('rows').objectStore('rows');
}

/** Makes sure that the database holds all rows. */
export function fillRaw({ rows }: Setting): Promise<void> {
  return withRaw(async (db) => {
    if ((await settled(storedRows(db).count())) !== rows) await putRows(db, makeRows(rows));
  });
}
