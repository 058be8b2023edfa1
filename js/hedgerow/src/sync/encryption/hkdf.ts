/** Derives keys from one key by HKDF-SHA256; no derived key reveals another. */

import { HedgerowError } from '../../base/errors.js';
import { isByteArray } from '../../base/is-byte-array.js';
import { memberOf } from '../../base/runtime-type-checks.js';
import { subtle, toUnsharedBytes } from './web-crypto.js';

/** Bytes of an app's key. */
export const KEY_BYTES = 32;

/**
 * The key that an app gives: 32 random bytes, or a `CryptoKey` for HKDF with the usage `deriveBits`, as `importKey` and
 * `passphraseKey` make them. A `CryptoKey` cannot be read out, and IndexedDB can store it.
 */
export type RootKey = CryptoKey | Uint8Array;

/** Makes a new key: 32 random bytes. Keep it where only you can read it: without it, the sealed data is lost. */
export function generateKey(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(KEY_BYTES));
}

/** Makes a key for HKDF from 32 random bytes. It cannot be read out again. Rejects with `invalid-argument`. */
export async function importKey(keyBytes: Uint8Array): Promise<CryptoKey> {
  if (!isByteArray(keyBytes) || keyBytes.length !== KEY_BYTES) {
    throw new HedgerowError('invalid-argument', `a key is a Uint8Array of ${KEY_BYTES} bytes`);
  }
  return subtle().importKey('raw', toUnsharedBytes(keyBytes), 'HKDF', false, ['deriveBits']);
}

/** Returns whether `key` is a `CryptoKey` for an algorithm and a usage. */
export function isKeyFor(key: unknown, algorithm: string, usage: string): key is CryptoKey {
  const usages = memberOf(key, 'usages');
  const isFor = memberOf(memberOf(key, 'algorithm'), 'name') === algorithm;
  return isFor && Array.isArray(usages) && usages.includes(usage);
}

/** Resolves to the `CryptoKey` of an app's key. Rejects with `invalid-argument` if it is not for HKDF. */
export async function rootKey(key: RootKey): Promise<CryptoKey> {
  if (isByteArray(key)) return importKey(key);
  if (isKeyFor(key, 'HKDF', 'deriveBits')) return key;
  const message =
    'a key is 32 bytes, or a CryptoKey for HKDF with the usage deriveBits: see importKey';
  throw new HedgerowError('invalid-argument', message);
}

/** Derives bytes that only `key`, `saltBytes` and `info` together give; `info` names their purpose. */
export async function deriveBytes(
  key: CryptoKey,
  saltBytes: Uint8Array,
  info: string | Uint8Array,
  length: number,
): Promise<Uint8Array> {
  const params = {
    ...{ name: 'HKDF', hash: 'SHA-256', salt: toUnsharedBytes(saltBytes) },
    info: typeof info === 'string' ? new TextEncoder().encode(info) : toUnsharedBytes(info),
  };
  return new Uint8Array(await subtle().deriveBits(params, key, 8 * length));
}
