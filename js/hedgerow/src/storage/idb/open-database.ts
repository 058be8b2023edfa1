/**
 * Opens databases. An opening has a limit, since it waits for earlier deletions, and for a tab that makes
 * the database: a suspended tab ends neither.
 */
import { IDB_FORMAT } from '../../base/limits.js';
import { within } from '../../base/timeout.js';
import {
  currentFactory,
  type Factory,
  goneOf,
  renewAfter,
  unlessGone,
} from './replace-lost-indexeddb.js';

export interface OpeningEvents {
  /** Called for a new database. `tx.abort()` gives up. */
  onUpgrade(db: IDBDatabase, tx: IDBTransaction): void;
  /** Called when another connection waits for the end of this one: for a deletion, or for version `next`. */
  onBlocking(db: IDBDatabase, next: number | null): void;
  /** Called when the browser has closed the connection. */
  onTerminated?(db: IDBDatabase): void;
}

function requestOpening(name: string, events: OpeningEvents): Promise<IDBDatabase> {
  // The version never changes: a store's format is in its refs.
  const from = currentFactory();
  const request = from.indexedDB.open(name, IDB_FORMAT);
  let reason: unknown;
  request.addEventListener('upgradeneeded', () => {
    const tx = request.transaction as IDBTransaction;
    // For a failed transaction the request only says `AbortError`.
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
 * Opens the database `name`; resolves to `undefined` if that takes more than `limitMs` milliseconds awake. Closes a
 * connection that comes later, since it would block deletions.
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

/** Waits for a request of the factory `from`; `reason` may know a better cause than its error. */
export function awaitRequest<T>(
  request: IDBRequest<T>,
  from: Factory,
  reason: () => unknown = () => undefined,
): Promise<T> {
  const answered = new Promise<T>((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', (event) => {
      // Otherwise Firefox reports an error of the page.
      event.preventDefault();
      const cause = reason() ?? request.error;
      renewAfter(cause, from);
      reject(cause);
    });
  });
  return unlessGone(from.gone, answered);
}
