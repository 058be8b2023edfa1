/** Locks within this page, whose code most pages never need. */
import { partOnce } from './dynamic-import.js';
import type { Locks } from './locks.js';

const importLocks = () => import('./local-locks.js');

/** Loads their code. */
export const loadLocalLocks = () => partOnce(importLocks);

/** As `localLocks`, whose code the first call loads. */
export function lateLocks(): Locks {
  let own: Locks | undefined;
  const load = async () => {
    const { localLocks } = await loadLocalLocks();
    own ??= localLocks();
    return own;
  };
  return {
    areKept: true,
    request: async (...call) => (await load()).request(...call),
    query: async () => (await load()).query(),
  };
}
