/** Deletes databases, and waits for tabs that have them open. */
import { within } from '../../base/timeout.js';
import { checkPresent, repeating } from './database-connection.js';
import { buildBlockedError } from './failures.js';
import { awaitRequest } from './open-database.js';
import { currentFactory } from './replace-lost-indexeddb.js';

/** How long a deletion may take in all, and how long it may be blocked, in milliseconds awake. */
const DELETION_LIMIT = 15_000;
const BLOCKED_LIMIT = 2_000;

/** Deletes the database `name`; resolves even if it does not exist. */
export function destroyDatabase(name: string): Promise<void> {
  return repeating(async () => {
    checkPresent();
    let onBlocked = () => {};
    const held = new Promise<'held'>((resolve) => {
      onBlocked = () => resolve('held');
    });
    const deleted = deleteDatabase(name, () => onBlocked()).then(() => 'deleted');
    let state = await within(DELETION_LIMIT, Promise.race([deleted, held]));
    if (state === 'held') state = await within(BLOCKED_LIMIT, deleted);
    if (state === undefined) throw buildBlockedError();
  });
}

/** Deletes the database `name`, if it exists. Calls `onBlocked` if a connection to it stays open. */
export async function deleteDatabase(name: string, onBlocked = () => {}): Promise<void> {
  const from = currentFactory();
  const request = from.indexedDB.deleteDatabase(name);
  request.addEventListener('blocked', onBlocked);
  await awaitRequest(request, from);
}
