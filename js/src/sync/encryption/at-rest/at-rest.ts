/** Stores that are encrypted where they are kept. */
import type { Encryption, Storage } from '../../../storage/segment-store.js';
import { AppKey, type AtRestKey } from './app-key.js';
import { sealedLocks } from './sealed-locks.js';
import { SealedStore } from './sealed-store.js';
import type { StoreKeys } from './store-keys.js';

/**
 * Encryption for `open(name, { encryption })`: what is stored is sealed by a key of the store's own, and that by `key` or
 * `passphrase`. A store that holds nothing is encrypted from then on; with another key, and one that holds something and is
 * not encrypted, `open` rejects with `wrong-key`, and changes nothing. Without the key nobody can read the store again.
 *
 * Throws `invalid-argument`, and `unsupported` where there is no WebCrypto.
 */
export function atRest(given: AtRestKey): Encryption {
  const appKey = new AppKey('atRest', given);
  return { over: (storage) => sealedStorage(storage, appKey) };
}

function sealedStorage(storage: Storage, appKey: AppKey): Storage {
  const keysOf = new Map<string, StoreKeys>();
  return {
    ...(storage.lifetime && { lifetime: storage.lifetime }),
    ...(storage.isPrivate && { isPrivate: async () => storage.isPrivate?.() }),
    ...(storage.isShared !== undefined && { isShared: storage.isShared }),
    get locks() {
      return storage.locks && sealedLocks(storage.locks, (name) => keysOf.get(name));
    },
    async open(name, options) {
      const inner = await storage.open(name, options);
      return new SealedStore(name, inner, appKey, (keys) => keysOf.set(name, keys));
    },
    destroy: (name) => storage.destroy(name),
  };
}
