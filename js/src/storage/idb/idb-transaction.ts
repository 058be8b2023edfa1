/** One transaction of IndexedDB as a promise, which fails with what really went wrong. */
import type { Durability } from '../segment-store.js';
import { goneOf, unlessGone } from './factory.js';
import { buildLostError } from './failures.js';

/** The object stores that hold data. */
export const STORES = ['segments', 'tables', 'refs'] as const;
/** And that of the copies: see `joined-tables.ts`. */
export const ALL_STORES = [...STORES, 'joined'] as const;
export type StoreName = (typeof ALL_STORES)[number];

/**
 * A transaction under way; see `transact`.
 *
 * **Never make a request whose effect is only right when earlier ones have succeeded, while any of them
 * is under way.** Firefox, when a request finds no room, undoes all that came before it; but requests
 * that were made already may then take effect, each for itself, though all are reported as aborted.
 * A deletion may find no room, too. `undo` is safe: it undoes everything, in every engine.
 */
export interface TransactionWork<T> {
  store(name: StoreName): IDBObjectStore;
  /** Calls `then` when `request`, and so every earlier one, has succeeded. */
  after<R>(request: IDBRequest<R>, then: (result: R) => void): void;
  /** Answers at once, which is enough for a read. */
  answer(value: T): void;
  /** Answers when all requests made so far are committed. */
  commit(value: T): void;
  /** Undoes all requests, then answers. */
  undo(value: T): void;
}

/** Ends each transaction under way of a database. */
const abortsOf = new WeakMap<IDBDatabase, Set<() => void>>();

/** Ends all transactions under way of a database, as if its connection were lost. */
export function abortAll(db: IDBDatabase): void {
  for (const abort of abortsOf.get(db) ?? []) {
    try {
      abort();
    } catch {
      // It is being committed, which takes nothing more of this page.
    }
  }
}

/**
 * Runs `start` in one transaction. It must make its first request before it returns,
 * since WebKit allows no microtask in between, and lead to exactly one of `answer`,
 * `commit` and `undo`. Whatever it throws undoes the transaction.
 *
 * What went wrong is told by the first request that failed, or else by the transaction: WebKit leaves
 * the error of a transaction `null` after `commit()`, Chromium and Firefox tell of a full disk by
 * `abort` alone. When Chromium drops a connection, a transaction that is being committed gets
 * neither `complete` nor `abort`: only the `close` of its database tells, and of one in a removed frame
 * not even that: `goneOf` does. And `complete` is believed only when no request has failed: Firefox, when two
 * requests that are under way at `commit()` find no room, undoes what came before them, and then completes.
 */
export function runIdbTransaction<T>(
  db: IDBDatabase,
  stores: readonly StoreName[],
  mode: 'readonly' | 'readwrite',
  durability: Durability,
  start: (work: TransactionWork<T>) => void,
): Promise<T> {
  let onClose = () => {};
  let abort = () => {};
  const aborts = abortsOf.get(db) ?? new Set();
  abortsOf.set(db, aborts);
  const settled = new Promise<T>((resolve, reject) => {
    const tx = db.transaction(stores, mode, { durability });
    abort = () => tx.abort();
    aborts.add(abort);
    let failure: DOMException | null = null;
    let hasFailed = false;
    onClose = () => reject(failure ?? buildLostError());
    db.addEventListener('close', onClose);
    let onAbort = () => {
      failure ??= tx.error;
      onClose();
    };
    // What goes on to the database Firefox reports as an error of the page.
    tx.onerror = (event) => {
      event.stopPropagation();
      const { error } = event.target as IDBRequest;
      hasFailed = true;
      // The others fail because the transaction has.
      if (error?.name !== 'AbortError') failure ??= error;
    };
    tx.onabort = (event) => {
      event.stopPropagation();
      onAbort();
    };
    const runGuarded = (body: () => void) => {
      try {
        body();
      } catch (cause) {
        reject(cause);
        // It may be over already, and the first failure is the one to tell.
        try {
          tx.abort();
        } catch {}
      }
    };
    runGuarded(() =>
      start({
        store: (name) => tx.objectStore(name),
        after: (request, then) => {
          request.onsuccess = () => runGuarded(() => then(request.result));
        },
        answer: resolve,
        commit: (value) => {
          tx.oncomplete = () => (hasFailed ? onClose() : resolve(value));
          // Spares the wait for the results of the requests that are still running.
          tx.commit();
        },
        undo: (value) => {
          onAbort = () => resolve(value);
          tx.abort();
        },
      }),
    );
  });
  return unlessGone(goneOf.get(db), settled).finally(() => {
    aborts.delete(abort);
    db.removeEventListener('close', onClose);
  });
}

/** Requests of one transaction succeed in order, so that the last one tells of all. */
export function whenAll<T, R>(
  work: TransactionWork<T>,
  requests: readonly IDBRequest<R>[],
  then: (results: R[]) => void,
): void {
  const last = requests.at(-1);
  if (last === undefined) then([]);
  else work.after(last, () => then(requests.map(({ result }) => result)));
}

/**
 * Makes requests one by one, each when the one before has succeeded, and calls `then` while the last
 * one is still under way.
 */
export function inTurn<T>(
  work: TransactionWork<T>,
  [step, ...rest]: readonly (() => IDBRequest)[],
  then: () => void,
): void {
  const request = step?.();
  if (request === undefined || rest.length === 0) then();
  else work.after(request, () => inTurn(work, rest, then));
}
