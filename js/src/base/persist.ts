/** Asks the platform to keep the storage of the whole origin. */
import { within } from './timeout.js';

/** A platform that has not answered by then, in milliseconds, tells nothing. */
const ANSWER_LIMIT = 5000;

/** What the platform answers, or `undefined`: also where it has no such call, or never answers. Never fails. */
export function answerOf<T>(
  ask: (storage: Partial<StorageManager>) => Promise<T> | undefined,
): Promise<T | undefined> {
  return within(ANSWER_LIMIT, quietly(ask));
}

async function quietly<T>(
  ask: (storage: Partial<StorageManager>) => Promise<T> | undefined,
): Promise<T | undefined> {
  try {
    // Not in Node, and not in a page that did not come over a secure connection.
    return await ask((globalThis.navigator as Partial<Navigator> | undefined)?.storage ?? {});
  } catch {
    return undefined;
  }
}

/**
 * Asks the browser to delete the storage of this origin only when the user says so. Resolves to whether that is so
 * now, or to `undefined` where the platform does not tell; never rejects. Call it in a handler of a click or a key:
 * Firefox asks the user, and this settles when the user has answered, which may be never.
 */
export async function persist(): Promise<boolean | undefined> {
  // In the turn of the call: a browser forgets soon that the user has clicked.
  const isGranted = await quietly((storage) => storage.persist?.());
  // A worker may not ask, and may still know.
  return isGranted ?? answerOf((storage) => storage.persisted?.());
}
