/**
 * Loses connections to IndexedDB at a chosen step, as the browser does when it closes them by force: transactions under
 * way abort or are never heard of again, the database gets `close`. A step is any event that a store waits for or that
 * can find its connection gone: a database opened, a transaction begun, a request answered, a transaction completed.
 */

/**
 * When the `close` event comes: in the same task as the loss, or in a later one. Or the database is deleted, as another
 * tab does it.
 */
export type Notice = 'at once' | 'later' | 'deleted';

let steps = 0;
let first = Number.POSITIVE_INFINITY;
let count = 0;
let notice: Notice = 'at once';
let deletion: Promise<void> | undefined;
const live = new Map<IDBTransaction, IDBDatabase>();

/** Loses the connection at `times` steps, from the step `from` on. */
export function lose(from: number, times: number, how: Notice): void {
  [steps, first, count, notice] = [0, from, times, how];
  deletion = undefined;
}

/** Resolves when the database is deleted; `undefined` without a deletion. */
export function deleted(): Promise<void> | undefined {
  return deletion;
}

/** Loses no more; resolves to the number of steps since `lose`. */
export function heal(): number {
  first = Number.POSITIVE_INFINITY;
  return steps;
}

function isLost(): boolean {
  const at = steps++;
  return at >= first && at < first + count;
}

function drop(db: IDBDatabase): void {
  if (notice === 'deleted') {
    deletion ??= new Promise((resolve, reject) => {
      const request = indexedDB.deleteDatabase(db.name);
      request.onsuccess = () => resolve();
      request.onerror = () => reject(request.error);
    });
    return;
  }
  for (const [tx, owner] of live) {
    if (owner !== db) continue;
    live.delete(tx);
    try {
      tx.abort();
    } catch {
      // It is being committed: it sends no further event.
    }
  }
  db.close();
  const close = () => db.dispatchEvent(new Event('close'));
  if (notice === 'at once') close();
  else nativeTimeout(close, 0);
}

const nativeTimeout = globalThis.setTimeout.bind(globalThis);

/** Wraps IndexedDB for all later code. */
export function install(): void {
  // The waits before a repetition would take most of the time. Limits must keep their length; they are counted in four
  // parts of 500 ms and more.
  const LONGEST_WAIT_MS = 450;
  globalThis.setTimeout = ((run: () => void, ms = 0, ...rest: unknown[]) =>
    nativeTimeout(run, ms < LONGEST_WAIT_MS ? 0 : ms, ...rest)) as typeof setTimeout;

  const { transaction } = IDBDatabase.prototype;
  IDBDatabase.prototype.transaction = function (...args) {
    if (isLost()) drop(this);
    const tx = transaction.apply(this, args);
    live.set(tx, this);
    tx.addEventListener('abort', () => live.delete(tx));
    tx.addEventListener('complete', (event) => {
      live.delete(tx);
      if (tx.mode === 'readonly' || !isLost()) return;
      // It was committed, and its answer is lost.
      if (notice !== 'deleted') event.stopImmediatePropagation();
      drop(this);
    });
    return tx;
  };

  for (const name of ['get', 'getAll', 'getAllKeys', 'put', 'add', 'delete', 'count'] as const) {
    const proto = IDBObjectStore.prototype as unknown as Record<
      string,
      (this: IDBObjectStore, ...args: unknown[]) => IDBRequest
    >;
    const native = proto[name]!;
    proto[name] = function (...args) {
      const request = native.apply(this, args);
      request.addEventListener('success', (event) => {
        if (!isLost()) return;
        if (notice !== 'deleted') event.stopImmediatePropagation();
        drop(this.transaction.db);
      });
      return request;
    };
  }

  const { open } = IDBFactory.prototype;
  IDBFactory.prototype.open = function (...args) {
    const request = open.apply(this, args);
    request.addEventListener('success', () => {
      const db = request.result;
      // The answer arrives, and then the connection is gone.
      if (isLost()) queueMicrotask(() => drop(db));
    });
    return request;
  };
}
