/**
 * Waits for other tabs, always with a limit: a suspended tab releases no lock and answers no message. So a lock that
 * another tab may hold only saves work: the work under it must also be correct without it.
 */

import { until } from './abort-signal.js';
import { HedgerowError } from './errors.js';
import { MAX_COMMIT_TRIES, MAX_COMMIT_WAIT_MS } from './limits.js';
import type { Locks } from './locks.js';
import { turn } from './slice-queue.js';

/** The number of parts of a limit. */
const PARTS = 4;
/** A part that ends later than this, in milliseconds, does not count. Hidden pages get timers once a second. */
const LATE_MS = 2000;
/** Most late parts that do not count: an always late page must also reach the limit. */
const MAX_LATE = 3;

/**
 * Calls `over` after `ms` milliseconds in which this page could work: sleep of the machine and a freeze of the page do
 * not count. Returns a function that cancels it.
 */
export function afterAwake(ms: number, over: () => void): () => void {
  const partMs = ms / PARTS;
  let late = 0;
  let timer: ReturnType<typeof setTimeout>;
  const count = (left: number): void => {
    const startMs = performance.now();
    timer = setTimeout(() => {
      const isLate = performance.now() - startMs > partMs + LATE_MS && late++ < MAX_LATE;
      if (isLate) count(left);
      else if (left > 1) count(left - 1);
      else over();
    }, partMs);
  };
  count(PARTS);
  return () => clearTimeout(timer);
}

/** Waits for `promise`; resolves to `undefined` if it has not settled after `ms` milliseconds awake. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let stop = () => {};
  const late = new Promise<undefined>((resolve) => {
    stop = afterAwake(ms, () => resolve(undefined));
  });
  return Promise.race([promise, late]).finally(() => stop());
}

/**
 * Runs `work` under a lock. Runs it without the lock if another tab does not release the lock within `ms` milliseconds,
 * or the browser refuses it; `hasLock` says which. Rejects with the reason of `signal` after an abort before `work`
 * begins.
 */
export async function withLock<T>(
  locks: Locks | undefined,
  name: string,
  ms: number,
  work: (hasLock: boolean) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const check = () => {
    if (signal?.aborted === true) throw signal.reason;
  };
  check();
  if (locks === undefined) return work(false);
  const wait = new AbortController();
  const giveUp = () => wait.abort();
  const stop = afterAwake(ms, giveUp);
  signal?.addEventListener('abort', giveUp);
  let working: Promise<T> | undefined;
  try {
    await locks.request(name, { signal: wait.signal }, async () => {
      stop();
      working = work(true);
      await working.catch(() => {});
    });
  } catch {
    // The wait took too long, or the browser refused the lock or broke it: go on without it.
  } finally {
    stop();
    signal?.removeEventListener('abort', giveUp);
  }
  if (working !== undefined) return working;
  check();
  return work(false);
}

/** Calls `run` after `ms` milliseconds; returns a function that cancels it. The timer does not keep Node alive. */
export function later(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms);
  (timer as { unref?(): void }).unref?.();
  return () => clearTimeout(timer);
}

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
