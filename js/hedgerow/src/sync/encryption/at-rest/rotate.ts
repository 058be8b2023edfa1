/** Gives an encrypted store another key. */

import {
  anything,
  checkStoreName,
  mandatory,
  type OptionsOf,
  optionsOf,
} from '../../../base/check-options.js';
import { HedgerowError } from '../../../base/errors.js';
import { idb } from '../../../storage/idb/idb.js';
import { storageCheck } from '../../../storage/storage-checks.js';
import { AppKey, type AtRestKey } from './app-key.js';
import { resealDataKey } from './data-key.js';

const ROTATE_OPTIONS = {
  /** The key that opens the store now. */
  from: mandatory(anything<AtRestKey>()),
  /** The only key that opens it from then on. */
  to: mandatory(anything<AtRestKey>()),
  /** Where the store is; `idb()` by default. */
  storage: storageCheck,
};

/** The old and the new key of a store. */
export interface RotateOptions extends OptionsOf<typeof ROTATE_OPTIONS> {}

/**
 * Gives a store another key. One transaction writes only the record of the store's own key: open handles stay open, and
 * after a crash the old key or the new one opens the store. Also resolves if `to` opens the store already. Rejects with
 * `wrong-key` if neither key opens it, and with `not-found/store` if it does not exist.
 */
export async function rotateKey(name: string, options: RotateOptions): Promise<void> {
  checkStoreName(name);
  const { from, to, storage = idb() } = optionsOf('rotateKey', options, ROTATE_OPTIONS);
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
