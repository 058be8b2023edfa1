/** The checks of options that say where a store is, and how it is encrypted. */

import type { OptionCheck } from '../base/check-options.js';
import type { Encryption, Storage } from './segment-store.js';

export const storageCheck: OptionCheck<Storage> = [
  (value: { open?: unknown }) => typeof value.open === 'function',
  'such as idb()',
];

const ENCRYPTION: OptionCheck<never> = [
  (value: { over?: unknown }) => typeof value.over === 'function',
  'of hedgerow/encryption',
];

/** Stores and remotes have types of encryption of their own. */
export const encryptionCheck = <T = Encryption>(): OptionCheck<T> => ENCRYPTION;
