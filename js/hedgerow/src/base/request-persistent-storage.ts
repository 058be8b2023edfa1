/** Asks the platform to keep the storage of the whole origin. */
import { within } from './timeout.js';

/** Longest wait for the platform, in milliseconds. */
const ANSWER_LIMIT = 5000;

/** Returns the answer of the platform; `undefined` if it lacks the call, rejects, or is late. Never rejects. */
export function answerOf<T>(
  ask: (storage: Partial<StorageManager>) => Promise<T> | undefined,
): Promise<T | undefined> {
  return within(ANSWER_LIMIT, quietly(ask));
}

async function quietly<T>(
  ask: (storage: Partial<StorageManager>) => Promise<T> | undefined,
): Promise<T | undefined> {
  try {
    // `storage` is absent in Node, and in pages from an insecure connection.
    return await ask((globalThis.navigator as Partial<Navigator> | undefined)?.storage ?? {});
  } catch {
    return undefined;
  }
}

/**
 * Asks the browser to delete the storage of this origin only when the user says so. Resolves to whether that holds now,
 * or to `undefined` if the platform does not say; never rejects. Call it in a handler of a click or a key: Firefox asks
 * the user, and the promise settles when the user answers, which may be never.
 */
export async function persist(): Promise<boolean | undefined> {
  // Ask in the turn of the call: the user's click counts only for a short time.
  const isGranted = await quietly((storage) => storage.persist?.());
  // A worker may not request it, but can read the state.
  return isGranted ?? answerOf((storage) => storage.persisted?.());
}
