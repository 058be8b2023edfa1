/** Pauses, and attempts with pauses between them. */

import { until } from './abort-signal.js';
import { HedgerowError } from './errors.js';
import { MAX_COMMIT_TRIES, MAX_COMMIT_WAIT_MS } from './limits.js';
import { turn } from './slice-queue.js';

/** Waits for `ms` milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits as `pause` does; rejects with `aborted` on an abort. */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await until(waited, signal).finally(() => clearTimeout(timer));
}

/**
 * Waits a short time that other tabs may depend on. A hidden page gets its timers once a second or once a minute, so it
 * takes turns until the time is over.
 */
export async function soon(ms: number): Promise<void> {
  if (typeof document === 'undefined' || document.visibilityState !== 'hidden') return pause(ms);
  const endMs = performance.now() + ms;
  do await turn();
  while (performance.now() < endMs);
}

/**
 * Calls `attempt` until it returns a result; `undefined` means that another writer was first. After the second lost
 * race it waits a random time, with a growing limit: a writer that commits again and again is faster than one that must
 * first read the other's commit. Rejects with `conflict` in the end; `lost` begins that message.
 */
export async function untilWon<T>(
  attempt: (tries: number) => Promise<T | undefined>,
  lost = 'others wrote first',
  firstTry = 0,
): Promise<T> {
  for (let tries = firstTry; tries < MAX_COMMIT_TRIES; tries++) {
    if (tries > 1) await soon(Math.min(2 ** (tries - 1), MAX_COMMIT_WAIT_MS) * Math.random());
    const result = await attempt(tries);
    if (result !== undefined) return result;
  }
  throw new HedgerowError('conflict', `${lost} ${MAX_COMMIT_TRIES} times: try again`);
}
