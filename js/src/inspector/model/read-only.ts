/** What the inspector reads stores by: nothing is written through it, whatever a handle wants to do in the background. */

import { HedgerowError } from '../../base/errors.js';
import type { Locks } from '../../base/locks.js';
import type { SegmentStore, Storage } from '../../storage/segment-store.js';

const refuseWrite = async (): Promise<never> => {
  throw new HedgerowError('blocked', 'the inspector only reads through this handle');
};

/** The lock of the role of the collector, see `tabs/role.ts`: names of stores in locks have no slash. */
const isRole = (name: string) => name.endsWith('/collector');

/** A role that is never had: somebody else has it, as far as the handle knows. */
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

/** Locks that announce what is read, as those of any handle, but never make it the collector. */
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
 * The same stores, of which none is created, changed, collected or deleted. What a handle reads is pinned as it is in any
 * tab, so that nobody deletes it meanwhile.
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
