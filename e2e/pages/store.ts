/** The page of `tests/store*.spec.ts`: a store, rows to put into it, and its raw records. */
import type { Store } from 'hedgerow';

type Entry = [key: string, value: unknown];

declare global {
  interface Window {
    /** The store that a test keeps from one `evaluate` to the next. */
    db: Store;
    /** Makes rows that follow from `round`, in another order than their keys. */
    rows(count: number, round?: number): Entry[];
    /** Makes bytes that do not compress, as Chromium compresses what it stores. */
    bytes(length: number, seed: number): Uint8Array;
    /** Makes byte values of 100 kB, with ascending keys. */
    manyBytes(count: number): Iterable<Entry>;
    /** Hashes entries, so that they need not leave the page. */
    digest(entries: readonly (readonly [string, unknown])[]): Promise<string>;
    /**
     * Changes raw records of a store: replaces each with the result of `change`, which may be a promise. `change` gets
     * the bytes of a segment in any stored form.
     */
    editRecords(
      name: string,
      objectStore: 'segments' | 'tables' | 'refs' | 'joined',
      change: (value: unknown, key: IDBValidKey) => unknown,
    ): Promise<void>;
    /** Counts the records in an object store of a store. */
    countRecords(name: string, objectStore: string): Promise<number>;
    /** Values that a test leaves for its next `evaluate`. */
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
    (error: { code?: unknown; detail?: unknown }) => error.detail ?? error.code ?? String(error),
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

window.editRecords = async (name, objectStore, change) => {
  const stored = await raw<[IDBValidKey, unknown][]>(name, objectStore, (records, done) => {
    const found: [IDBValidKey, unknown][] = [];
    const cursors = records.openCursor();
    cursors.onsuccess = () => {
      const cursor = cursors.result;
      if (cursor === null) return done(found);
      found.push([cursor.key, cursor.value]);
      cursor.continue();
    };
  });
  const edited: [IDBValidKey, unknown][] = [];
  const gone: IDBValidKey[] = [];
  for (const [key, value] of stored) {
    if (value instanceof Blob) {
      const bytes = change(new Uint8Array(await value.arrayBuffer()), key);
      edited.push([key, bytes instanceof Uint8Array ? new Blob([bytes as BlobPart]) : bytes]);
    } else if (objectStore !== 'segments' || !Array.isArray(key)) {
      edited.push([key, await change(value, key)]);
    } else if (key[1] === 0) {
      // A segment in pieces, which a test sees as one.
      const isPiece = ([other]: [IDBValidKey, unknown]) =>
        Array.isArray(other) && other[0] === key[0];
      const pieces = stored.filter(isPiece).map(([, piece]) => piece as Uint8Array);
      const joined = new Uint8Array(await new Blob(pieces as BlobPart[]).arrayBuffer());
      const bytes = change(joined, key[0] as number);
      let at = 0;
      for (const [index, { length }] of pieces.entries()) {
        gone.push([key[0] as number, index]);
        if (!(bytes instanceof Uint8Array)) continue;
        edited.push([[key[0] as number, index], bytes.slice(at, at + length)]);
        at += length;
      }
      if (!(bytes instanceof Uint8Array)) edited.push([key[0] as number, bytes]);
    }
  }
  await raw<void>(name, objectStore, (records) => {
    for (const key of gone) records.delete(key);
    for (const [key, value] of edited) records.put(value, key);
  });
};

window.countRecords = (name, objectStore) =>
  raw<number>(name, objectStore, (records, done) => {
    const keys = records.getAllKeys();
    keys.onsuccess = () => {
      // A segment may be in pieces.
      const isSegment = objectStore === 'segments';
      const owners = keys.result.map((key) => (isSegment && Array.isArray(key) ? key[0] : key));
      done(new Set(owners).size);
    };
  });
