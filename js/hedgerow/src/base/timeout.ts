/**
 * Waits for other tabs, always with a limit: a suspended tab releases no lock and answers no message. So a lock that
 * another tab may hold only saves work: the work under it must also be correct without it.
 */

import type { Locks } from './locks.js';

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
