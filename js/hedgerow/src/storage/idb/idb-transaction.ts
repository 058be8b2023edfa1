/** One transaction of IndexedDB as a promise, which rejects with the real cause. */
import type { Durability } from '../segment-store.js';
import { buildLostError } from './failures.js';
import { goneOf, unlessGone } from './replace-lost-indexeddb.js';

/** The object stores that hold data. */
export const STORES = ['segments', 'tables', 'refs'] as const;
/**
 * The object stores that small writes to `refs` lock. The writes do not touch `tables`, but its lock makes them wait
 * for writes of segments: after a kill during both commits, Chromium wiped the whole origin at its next start in a
 * test.
 */
export const REFS = ['tables', 'refs'] as const;
/** All object stores, including the copies: see `joined-segment-tables.ts`. */
export const ALL_STORES = [...STORES, 'joined'] as const;
export type StoreName = (typeof ALL_STORES)[number];

/**
 * A transaction under way; see `runIdbTransaction`.
 *
 * **Never make a request whose effect is only right after the success of earlier ones, while any of them is under
 * way.** When a request finds no space, Firefox undoes all requests before it; but each later request that was made
 * already may take effect, though Firefox reports all as aborted. A deletion may also find no space. `undo` is safe: it
 * undoes everything, in every engine.
 */
export interface TransactionWork<T> {
  store(name: StoreName): IDBObjectStore;
  /** Calls `then` after the success of `request`, and so of every earlier one. */
  after<R>(request: IDBRequest<R>, then: (result: R) => void): void;
  /** Answers at once, which is enough for a read. */
  answer(value: T): void;
  /** Answers after the commit of all requests so far. */
  commit(value: T): void;
  /** Undoes all requests, then answers. */
  undo(value: T): void;
}

/** The functions that end the transactions under way of each database. */
const abortsOf = new WeakMap<IDBDatabase, Set<() => void>>();

/** Ends all transactions under way of a database, as if its connection were lost. */
export function abortAll(db: IDBDatabase): void {
  for (const abort of abortsOf.get(db) ?? []) {
    try {
      abort();
    } catch {
      // It commits, which needs no more of this page.
    }
  }
}

/**
 * Runs `start` in one transaction. It must make its first request before it returns, since WebKit allows no microtask
 * in between, and lead to exactly one of `answer`, `commit` and `undo`. An exception undoes the transaction.
 *
 * The error of the first failed request counts, or else the error of the transaction: WebKit leaves the error of a
 * transaction `null` after `commit()`, Chromium and Firefox report a full disk only by `abort`. When Chromium drops a
 * connection, a committing transaction gets neither `complete` nor `abort`, only the `close` of its database. In a
 * removed frame it gets no event at all: `goneOf` reports it. `complete` counts only if no request has failed: if two
 * requests under way at `commit()` find no space, Firefox undoes the requests before them, and then completes.
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
    // Firefox reports an event that reaches the database as an error of the page.
    tx.onerror = (event) => {
      event.stopPropagation();
      const { error } = event.target as IDBRequest;
      hasFailed = true;
      // The other requests fail because the transaction has failed.
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
        // The transaction may be over already, and the first failure counts.
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
          // Commit now: otherwise the commit would wait for the results of all requests.
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

/** Calls `then` when all requests have succeeded: they succeed in order, so that the last one stands for all. */
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
 * Makes requests one by one, each after the success of the one before, and calls `then` while the last one is still
 * under way.
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
