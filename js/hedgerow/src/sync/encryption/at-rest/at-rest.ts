/** Encrypts stores where they are kept. */
import type { Encryption, Storage } from '../../../storage/segment-store.js';
import { AppKey, type AtRestKey } from './app-key.js';
import type { StoreKeys } from './data-key.js';
import { sealedLocks } from './sealed-lock-names.js';
import { SealedStore } from './sealed-store.js';

/**
 * Returns the encryption for `open(name, { encryption })`: the store's own key seals its data, and `key` or
 * `passphrase` seals that key. An empty store is encrypted from then on. With another key, or if the store has plain
 * data, `open` rejects with `wrong-key` and changes nothing. Without the key the store cannot be read again.
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
