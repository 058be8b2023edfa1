/**
 * The one way to open a database: with a limit. Opening waits for deletions before it, and for a tab that is
 * making the database: a suspended tab ends neither.
 */
import { type OpenDBCallbacks, openDB, unwrap } from 'idb';
import { within } from '../../base/timeout.js';

/**
 * Opens the database `name`; resolves to `undefined` when that takes more than `limitMs` milliseconds awake. A
 * connection that comes later is closed, since it would block deletions.
 */
export async function openWithin(
  limitMs: number,
  name: string,
  version: number,
  callbacks: OpenDBCallbacks<unknown>,
): Promise<IDBDatabase | undefined> {
  const opened = openDB(name, version, callbacks);
  const inTime = await within(limitMs, opened);
  if (inTime !== undefined) return unwrap(inTime);
  opened.then((late) => late.close()).catch(() => {});
  return undefined;
}
