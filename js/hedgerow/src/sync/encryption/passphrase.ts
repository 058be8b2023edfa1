/** Makes a key from a passphrase by PBKDF2-SHA256: WebCrypto has no function that costs an attacker memory. */

import { HedgerowError } from '../../base/errors.js';
import { isByteArray } from '../../base/is-byte-array.js';
import { importKey, KEY_BYTES } from './hkdf.js';
import { subtle, toUnsharedBytes } from './web-crypto.js';

/** The rounds that OWASP advises for PBKDF2-SHA256. */
export const PASSPHRASE_ROUNDS = 600_000;

/** Shortest salt, in bytes. */
const MIN_SALT_BYTES = 8;

/**
 * Makes a key for HKDF from a passphrase, in its normal form NFC. The salt need not be secret, but must differ for each
 * user and use, so that no table of passphrases fits two of them: random bytes that are kept, or text such as an
 * address. An attacker with the encrypted data may try passphrases without end: a passphrase that people choose is far
 * weaker than 32 random bytes. Rejects with `invalid-argument` for an empty passphrase, or a salt of less than 8 bytes.
 */
export async function passphraseKey(
  passphrase: string,
  salt: Uint8Array | string,
): Promise<CryptoKey> {
  const encoder = new TextEncoder();
  const saltBytes = typeof salt === 'string' ? encoder.encode(salt) : salt;
  if (typeof passphrase !== 'string' || passphrase === '') {
    throw new HedgerowError('invalid-argument', 'a passphrase is a string, and not empty');
  }
  if (!isByteArray(saltBytes) || saltBytes.length < MIN_SALT_BYTES) {
    throw new HedgerowError('invalid-argument', `a salt has at least ${MIN_SALT_BYTES} bytes`);
  }
  const textBytes = encoder.encode(passphrase.normalize('NFC'));
  return importKey(await stretchPassphrase(textBytes, saltBytes, PASSPHRASE_ROUNDS, KEY_BYTES));
}

/** Stretches a passphrase by PBKDF2-SHA256. */
export async function stretchPassphrase(
  textBytes: Uint8Array,
  saltBytes: Uint8Array,
  iterations: number,
  length: number,
): Promise<Uint8Array> {
  const crypto = subtle();
  const text = await crypto.importKey('raw', toUnsharedBytes(textBytes), 'PBKDF2', false, [
    'deriveBits',
  ]);
  const params = { name: 'PBKDF2', hash: 'SHA-256', salt: toUnsharedBytes(saltBytes), iterations };
  return new Uint8Array(await crypto.deriveBits(params, text, 8 * length));
}
