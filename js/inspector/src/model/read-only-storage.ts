/** The storage by which the inspector reads stores: it refuses all writes, also a handle's background work. */

import type { Storage } from 'hedgerow';
import type { SegmentStore } from 'hedgerow/kit';
import { HedgerowError, type Locks } from 'hedgerow/kit';

const refuseWrite = async (): Promise<never> => {
  throw new HedgerowError('blocked', 'the inspector only reads through this handle');
};

/** Whether a lock is the collector's role, see `storage/tabs/collector-role.ts`: names of stores in locks have no slash. */
const isRole = (name: string) => name.endsWith('/collector');

/** Refuses a role: as far as the handle knows, another tab has it. */
function refuseRole<T>(
  { ifAvailable, steal, signal }: Parameters<Locks['request']>[1],
  hold: (lock: unknown) => Promise<T>,
): Promise<T> {
  if (ifAvailable) return hold(null);
  if (steal) return refuseWrite();
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
}

/** Returns locks that announce reads, as the locks of any handle do, but never make the handle the collector. */
function withoutRole(locks: Locks): Locks {
  return {
    request: (name, options, hold) =>
      isRole(name) ? refuseRole(options, hold) : locks.request(name, options, hold),
    query: () => locks.query(),
    ...(locks.areKept !== undefined && { areKept: locks.areKept }),
  };
}

function wrapReadOnly(inner: SegmentStore): SegmentStore {
  return {
    load: (known, since) => inner.load(known, since),
    read: (wanted) => inner.read(wanted),
    history: (name) => inner.history(name),
    reserve: refuseWrite,
    write: refuseWrite,
    delete: refuseWrite,
    close: () => inner.close(),
    ...(inner.requestCost !== undefined && { requestCost: inner.requestCost }),
    rest: () => inner.rest?.(),
    upkeep: async () => {},
    get honoursStrict() {
      return inner.honoursStrict as boolean;
    },
  };
}

/**
 * Returns storage of the same stores that never creates, changes, collects or deletes them. Its handles pin their
 * reads, as in any tab, so that no tab deletes the data in the meantime.
 */
export function readOnly(storage: Storage): Storage {
  return {
    ...storage,
    get locks() {
      return storage.locks && withoutRole(storage.locks);
    },
    open: async (name, options) =>
      wrapReadOnly(await storage.open(name, { ...options, mustExist: true })),
    destroy: refuseWrite,
  };
}
