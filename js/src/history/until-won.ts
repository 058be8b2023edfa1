import { HedgerowError } from '../base/errors.js';
import { MAX_COMMIT_TRIES, MAX_COMMIT_WAIT_MS } from '../base/limits.js';
import { soon } from '../base/timeout.js';

/**
 * Calls `attempt` until it has a result; `undefined` means that another writer was first. After the second lost race
 * it waits longer each time: a writer that commits again and again is quicker than one that must first read what
 * the other wrote. Rejects with `conflict` in the end; `lost` begins that message.
 */
export async function untilWon<T>(
  attempt: (tries: number) => Promise<T | undefined>,
  lost = 'lost the race',
  firstTry = 0,
): Promise<T> {
  for (let tries = firstTry; tries < MAX_COMMIT_TRIES; tries++) {
    if (tries > 1) await soon(Math.min(2 ** (tries - 1), MAX_COMMIT_WAIT_MS) * Math.random());
    const result = await attempt(tries);
    if (result !== undefined) return result;
  }
  throw new HedgerowError('conflict', `${lost} ${MAX_COMMIT_TRIES} times`);
}
