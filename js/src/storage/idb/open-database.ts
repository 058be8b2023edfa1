/**
 * Opens and deletes databases. An opening has a limit, since it waits for deletions before it, and for a tab that is
 * making the database: a suspended tab ends neither.
 */
import { IDB_FORMAT } from '../../base/limits.js';
import { within } from '../../base/timeout.js';
import { currentFactory, type Factory, goneOf, renewAfter, unlessGone } from './factory.js';

export interface OpeningEvents {
  /** The database is new. `tx.abort()` gives up. */
  onUpgrade(db: IDBDatabase, tx: IDBTransaction): void;
  /** Another connection waits until this one is closed: for a deletion, or for version `next`. */
  onBlocking(db: IDBDatabase, next: number | null): void;
  /** The browser has closed the connection. */
  onTerminated?(db: IDBDatabase): void;
}

function requestOpening(name: string, events: OpeningEvents): Promise<IDBDatabase> {
  // Never another version: a store's format is in its refs.
  const from = currentFactory();
  const request = from.indexedDB.open(name, IDB_FORMAT);
  let reason: unknown;
  request.addEventListener('upgradeneeded', () => {
    const tx = request.transaction as IDBTransaction;
    // Of a transaction that fails, the request only says `AbortError`.
    tx.addEventListener('abort', () => {
      reason = tx.error;
    });
    events.onUpgrade(request.result, tx);
  });
  return awaitRequest(request, from, () => reason).then((db) => {
    if (from.gone !== undefined) goneOf.set(db, from.gone);
    db.addEventListener('versionchange', ({ newVersion }) => events.onBlocking(db, newVersion));
    db.addEventListener('close', () => events.onTerminated?.(db));
    return db;
  });
}

/**
 * Opens the database `name`; resolves to `undefined` when that takes more than `limitMs` milliseconds awake. A
 * connection that comes later is closed, since it would block deletions.
 */
export async function openWithin(
  limitMs: number,
  name: string,
  events: OpeningEvents,
): Promise<IDBDatabase | undefined> {
  const opening = requestOpening(name, events);
  const inTime = await within(limitMs, opening);
  if (inTime === undefined) opening.then((late) => late.close()).catch(() => {});
  return inTime;
}

/** Deletes the database `name`, also if there is none. Calls `onBlocked` when a connection to it stays open. */
export async function deleteDatabase(name: string, onBlocked = () => {}): Promise<void> {
  const from = currentFactory();
  const request = from.indexedDB.deleteDatabase(name);
  request.addEventListener('blocked', onBlocked);
  await awaitRequest(request, from);
}

/** `from` made the request; `reason` tells more than its error, if it tells anything. */
function awaitRequest<T>(
  request: IDBRequest<T>,
  from: Factory,
  reason: () => unknown = () => undefined,
): Promise<T> {
  const answered = new Promise<T>((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', (event) => {
      // Firefox would report it as an error of the page.
      event.preventDefault();
      const cause = reason() ?? request.error;
      renewAfter(cause, from);
      reject(cause);
    });
  });
  return unlessGone(from.gone, answered);
}
