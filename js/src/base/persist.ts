/** Asks the platform to keep the storage of the whole origin. */
import { within } from './timeout.js';

/** Longest wait for the platform, in milliseconds. */
const ANSWER_LIMIT = 5000;

/** The answer of the platform; `undefined` if it lacks the call, rejects, or does not answer in time. Never rejects. */
export function answerOf<T>(
  ask: (storage: Partial<StorageManager>) => Promise<T> | undefined,
): Promise<T | undefined> {
  return within(ANSWER_LIMIT, quietly(ask));
}

async function quietly<T>(
  ask: (storage: Partial<StorageManager>) => Promise<T> | undefined,
): Promise<T | undefined> {
  try {
    // Absent in Node, and in pages that did not come over a secure connection.
    return await ask((globalThis.navigator as Partial<Navigator> | undefined)?.storage ?? {});
  } catch {
    return undefined;
  }
}

/**
 * Asks the browser to delete the storage of this origin only when the user says so. Resolves to whether that holds
 * now, or to `undefined` if the platform does not say; never rejects. Call it in a handler of a click or a key:
 * Firefox asks the user, and this settles when the user answers, which may be never.
 */
export async function persist(): Promise<boolean | undefined> {
  // In the turn of the call: the click of the user counts only for a short time.
  const isGranted = await quietly((storage) => storage.persist?.());
  // A worker may not ask, but can find out.
  return isGranted ?? answerOf((storage) => storage.persisted?.());
}
