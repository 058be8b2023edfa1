/** Another key for a store that is encrypted. */

import { HedgerowError } from '../../../base/errors.js';
import { checkStoreName, optionsOf } from '../../../base/options.js';
import { idb } from '../../../storage/idb/idb.js';
import type { Storage } from '../../../storage/segment-store.js';
import { AppKey, type AtRestKey } from './app-key.js';
import { resealDataKey } from './store-keys.js';

/** Which key is replaced by which. */
export interface RotateOptions {
  /** What opens the store now. */
  readonly from: AtRestKey;
  /** What alone opens it from then on. */
  readonly to: AtRestKey;
  /** Where the store is; `idb()` by default. */
  readonly storage?: Storage | undefined;
}

/**
 * Gives a store another key. Only the record of its own key is written, in one transaction: handles that are open stay
 * so, and a crash leaves the one key or the other. Resolves as well where `to` opens the store already. Rejects with
 * `wrong-key` if neither opens it, with `store-not-found` if there is none.
 */
export async function rotateKey(name: string, options: RotateOptions): Promise<void> {
  checkStoreName(name);
  const { from, to, storage = idb() } = optionsOf('rotateKey', options, 'from to storage');
  if (from === undefined || to === undefined) {
    throw new HedgerowError('invalid-argument', 'rotateKey takes from and to, each a key');
  }
  const [old, next] = [new AppKey('rotateKey: from', from), new AppKey('rotateKey: to', to)];
  const inner = await storage.open(name, { mustExist: true });
  try {
    await resealDataKey(name, inner, old, next);
  } finally {
    await inner.close();
  }
}
