/**
 * Locks that show when the other side has gone: a closed or discarded page, a terminated worker. A lock ends with its
 * holder, and the waiting side then gets it.
 */
import { type Locks, uniqueName } from '../base/locks.js';

const locksHere = () => globalThis.navigator?.locks as Locks | undefined;

/** Holds a lock of a new name; resolves once it is held. `undefined` where there are no Web Locks. */
export async function holdLife(): Promise<{ readonly name: string; end(): void } | undefined> {
  const name = `hedgerow:worker:${uniqueName()}`;
  try {
    const locks = locksHere();
    if (locks === undefined) return undefined;
    return await new Promise((resolve, reject) => {
      const hold = () => new Promise<void>((end) => resolve({ name, end }));
      locks.request(name, {}, hold).catch(reject);
    });
  } catch {
    // A page without an origin of its own has no locks either.
    return undefined;
  }
}

/** Calls `over` when the holder of a lock has gone; returns a function that stops waiting. */
export function onEndOfLife(name: unknown, over: () => void): () => void {
  const stopping = new AbortController();
  const { signal } = stopping;
  if (typeof name === 'string') {
    const notifyEnd = async () => over();
    locksHere()
      ?.request(name, { signal }, notifyEnd)
      .catch(() => {});
  }
  return () => stopping.abort();
}
