/** Stands in for IndexedDB, which React Native does not have. */
import { HedgerowError } from '../base/errors.js';
import type { Storage } from '../storage/segment-store.js';

/** Nothing is loaded here. */
export async function loadRest(): Promise<void> {}

/** Refuses: there is no storage by default. */
export function idb(): Storage {
  const refuse = async (): Promise<never> => {
    const message = 'give `storage`: React Native has no IndexedDB; see `hedgerow/op-sqlite`';
    throw new HedgerowError('invalid-argument', message);
  };
  return { open: refuse, destroy: refuse };
}
