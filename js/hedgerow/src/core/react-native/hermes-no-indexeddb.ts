/** Replaces the IndexedDB adapter: React Native has no IndexedDB. */
import { HedgerowError } from '../../base/errors.js';
import type { Storage } from '../../storage/segment-store.js';

/** Does nothing: this build has no code to load later. */
export async function loadRest(): Promise<void> {}

/** Returns a storage whose methods reject: React Native has no default storage. */
export function idb(): Storage {
  const refuse = async (): Promise<never> => {
    const message =
      'give `storage`: React Native has no IndexedDB; see `@hedgerow/sqlite/op-sqlite`';
    throw new HedgerowError('invalid-argument', message);
  };
  return { open: refuse, destroy: refuse };
}
