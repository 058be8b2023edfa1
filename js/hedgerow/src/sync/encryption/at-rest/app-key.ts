/** The key that an app gives, as a key or as a passphrase. */

import { anything, type OptionsOf, optionsOf } from '../../../base/check-options.js';
import { HedgerowError } from '../../../base/errors.js';
import { hex } from '../../../base/hex.js';
import { type RootKey, rootKey } from '../hkdf.js';
import { passphraseKey } from '../passphrase.js';
import { subtle } from '../web-crypto.js';

const AT_REST_KEY = {
  /** 32 random bytes, or a `CryptoKey` for HKDF with the usage `deriveBits`. */
  key: anything<RootKey>(),
  /** PBKDF2-SHA256 of 600,000 rounds makes a key of it; the store keeps the salt. */
  passphrase: anything<string>(),
};

/** The key of an encrypted store, or a passphrase that gives one. */
export interface AtRestKey extends OptionsOf<typeof AT_REST_KEY> {}

export class AppKey {
  readonly isPassphrase: boolean;
  readonly #key: Promise<CryptoKey> | undefined;
  readonly #passphrase: string | undefined;
  /** The last key of a passphrase, with its salt: each takes half a second. */
  #last: { readonly salt: string; readonly key: Promise<CryptoKey> } | undefined;

  /** Throws `invalid-argument`, and `unsupported` where there is no WebCrypto. */
  constructor(call: string, given: AtRestKey) {
    const { key, passphrase } = optionsOf(call, given, AT_REST_KEY);
    if ((key === undefined) === (passphrase === undefined)) {
      throw new HedgerowError('invalid-argument', `${call} takes either a key or a passphrase`);
    }
    subtle();
    this.isPassphrase = key === undefined;
    this.#passphrase = passphrase;
    this.#key = key === undefined ? undefined : rootKey(key);
    this.#key?.catch(() => {}); // the opening of a store reports it
  }

  /** Resolves to the key that record keys are made of. */
  root(saltBytes: Uint8Array): Promise<CryptoKey> {
    if (this.#key !== undefined) return this.#key;
    const salt = hex(saltBytes);
    if (this.#last?.salt !== salt) {
      const key = passphraseKey(this.#passphrase as string, saltBytes);
      this.#last = { salt, key };
    }
    return this.#last.key;
  }
}
