/** The page of `tests/store*.spec.ts`: a store, rows to put into it, and its raw records. */
import type { Store } from 'hedgerow';

type Entry = [key: string, value: unknown];

declare global {
  interface Window {
    /** The store that a test keeps from one `evaluate` to the next. */
    db: Store;
    /** Rows that follow from `round`, in an order that is not that of their keys. */
    rows(count: number, round?: number): Entry[];
    /** Bytes that do not compress, as Chromium compresses what it stores. */
    bytes(length: number, seed: number): Uint8Array;
    /** Byte values of 100 kB, with ascending keys. */
    manyBytes(count: number): Iterable<Entry>;
    /** A hash of entries, so that they need not be brought out of the page. */
    digest(entries: readonly (readonly [string, unknown])[]): Promise<string>;
    /** Changes raw records of a store; what `change` returns is put in their place. */
    editRecords(
      name: string,
      objectStore: 'segments' | 'tables' | 'refs',
      change: (value: unknown, key: IDBValidKey) => unknown,
    ): Promise<void>;
    /** Number of records in an object store of a store. */
    countRecords(name: string, objectStore: string): Promise<number>;
    /** What a test leaves for its next `evaluate`. */
    seen: { rows: number; durableRows: number };
  }
}

window.hedgerow = await import('hedgerow');

window.rows = (count, round = 0) =>
  Array.from({ length: count }, (_, at): Entry => {
    const id = (at * 7919) % count;
    return [
      `issue/${String(id).padStart(6, '0')}`,
      { id, round, title: `Issue number ${id}`, open: id % 3 === 0, labels: ['a', `l${id % 7}`] },
    ];
  });

window.bytes = (length, seed) => {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
};

window.manyBytes = function* (count) {
  for (let at = 0; at < count; at++) yield [`b${at + 1000}`, window.bytes(100_000, at)];
};

window.digest = async (entries) => {
  const parts: Uint8Array[] = [];
  const text = JSON.stringify(entries, (_, value: unknown) => {
    if (!(value instanceof Uint8Array)) return value;
    parts.push(value);
    return `bytes ${value.length}`;
  });
  parts.push(new TextEncoder().encode(text));
  const all = await new Blob(parts as BlobPart[]).arrayBuffer();
  return new Uint8Array(await crypto.subtle.digest('SHA-256', all)).join();
};

window.codeOf = (call) =>
  call.then(
    () => undefined,
    (error: { code?: unknown }) => error.code ?? String(error),
  );

function raw<T>(
  name: string,
  objectStore: string,
  use: (records: IDBObjectStore, done: (result: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(`hedgerow/${name}`);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      let result: T;
      const tx = opening.result.transaction(objectStore, 'readwrite');
      tx.oncomplete = () => {
        opening.result.close();
        resolve(result);
      };
      tx.onabort = () => reject(tx.error);
      use(tx.objectStore(objectStore), (value) => {
        result = value;
      });
    };
  });
}

window.editRecords = (name, objectStore, change) =>
  raw<void>(name, objectStore, (records) => {
    const cursors = records.openCursor();
    cursors.onsuccess = () => {
      const cursor = cursors.result;
      if (cursor === null) return;
      cursor.update(change(cursor.value, cursor.key));
      cursor.continue();
    };
  });

window.countRecords = (name, objectStore) =>
  raw<number>(name, objectStore, (records, done) => {
    const count = records.count();
    count.onsuccess = () => done(count.result);
  });
