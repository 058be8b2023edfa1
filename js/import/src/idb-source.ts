/**
 * Reads an object store of another database, which its app may have open: this neither makes, upgrades nor blocks it.
 * It opens the database as it is, without a version; each read is a transaction of its own; and the connection closes
 * as soon as another one wants to upgrade or delete the database.
 */

import { HedgerowError, within } from 'hedgerow/kit';
import { type IDBPDatabase, type IDBPObjectStore, openDB } from 'idb';
import { encodeSourceKey, keyAt } from './convert-idb-keys.js';
import type { OpenRecords, RecordBatch } from './types.js';

/** Milliseconds until this gives up an opening, which waits for upgrades and deletions by others. */
const MAX_OPEN_MS = 15_000;

/** Names of errors after which another connection may help. */
const ENDED = /^(InvalidState|Abort|Unknown)Error$/;

const toReadError = (name: string, cause: unknown) =>
  new HedgerowError('unavailable/storage', `the database ${name} cannot be read: ${cause}`, {
    cause,
  });

/** Opens a database as it is; resolves to `undefined` if it does not exist. Calls `onEnd` when it must close. */
async function openAsIs(name: string, onEnd: () => void): Promise<IDBPDatabase | undefined> {
  if (globalThis.indexedDB === undefined) {
    throw new HedgerowError('unsupported', 'there is no IndexedDB here to import from');
  }
  let isNew = false;
  const opening = openDB(name, undefined, {
    upgrade(_db, _from, _to, transaction, event) {
      isNew = true;
      // This keeps the browser from making it.
      transaction.done.catch(() => {});
      transaction.abort();
      // Firefox would report it as an error of the page.
      event.target?.addEventListener('error', (error) => error.preventDefault());
    },
    blocking: onEnd,
    terminated: onEnd,
  }).then(
    (db) => ({ db }),
    (cause: unknown) => {
      if (isNew) return { db: undefined };
      throw toReadError(name, cause);
    },
  );
  const opened = await within(MAX_OPEN_MS, opening);
  if (opened !== undefined) return opened.db;
  opening.then(({ db }) => db?.close()).catch(() => {});
  const message = `the database ${name} does not open: a tab upgrades or deletes it; close the old app`;
  throw new HedgerowError('blocked', message);
}

/** A transaction that reads one object store. */
type ReadRecords = IDBPObjectStore<unknown, [string], string, 'readonly'>;

/** Opens an object store; resolves to `undefined` if the database does not exist. */
export async function openStore<Value, Key>(
  database: string,
  store: string,
  made: (stored: unknown) => Value,
): Promise<OpenRecords<Value, Key> | undefined> {
  let db: IDBPDatabase | undefined;
  let isOver = false;
  const end = (opened: IDBPDatabase | undefined) => {
    opened?.close();
    if (db === opened) db = undefined;
  };
  const open = async () => {
    let opened: IDBPDatabase | undefined;
    opened = await openAsIs(database, () => end(opened));
    if (isOver) opened?.close();
    if (opened === undefined || isOver) return undefined;
    db = opened;
    return opened;
  };

  /** Runs `work` in a transaction of its own; a second time if the browser has ended the connection. */
  const read = async <T>(work: (records: ReadRecords) => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      const opened = db ?? (await open());
      if (opened === undefined) throw toReadError(database, 'it was deleted');
      try {
        return await work(opened.transaction(store).store);
      } catch (cause) {
        if (tries > 1 || !ENDED.test((cause as Error | null)?.name ?? '')) {
          throw toReadError(database, cause);
        }
        end(opened);
      }
    }
  };

  const first = await open();
  if (first === undefined) return undefined;
  const names = [...first.objectStoreNames];
  if (!names.includes(store)) {
    first.close();
    const message = `the database ${database} has no object store ${store}, but ${names.join(', ') || 'none'}`;
    throw new HedgerowError('invalid-argument', message);
  }
  return {
    count: () => read((records) => records.count()),
    async read(after, limit): Promise<RecordBatch<Value, Key>> {
      const range = after === '' ? null : IDBKeyRange.lowerBound(keyAt(after), true);
      const [keys, values] = await read((records) =>
        Promise.all([records.getAllKeys(range, limit), records.getAll(range, limit)]),
      );
      return {
        records: keys.map((key, at) => [key as Key, made(values[at])] as const),
        next: keys.length === 0 ? after : encodeSourceKey(keys.at(-1)),
        isLast: keys.length < limit,
      };
    },
    close() {
      isOver = true;
      db?.close();
    },
  };
}
