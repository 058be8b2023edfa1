/** HKDF-SHA256: from one key, keys that know nothing of each other. */

import { isByteArray } from '../../base/byte-kinds.js';
import { HedgerowError } from '../../base/errors.js';
import { memberOf } from '../../base/kind.js';
import { subtle, toUnsharedBytes } from './web-crypto.js';

/** Bytes of a key that an app gives. */
export const KEY_BYTES = 32;

/**
 * What an app gives: 32 random bytes, or a `CryptoKey` for HKDF with the usage `deriveBits`, as `importKey` and
 * `passphraseKey` make them. A `CryptoKey` cannot be read out, and IndexedDB can store it.
 */
export type RootKey = CryptoKey | Uint8Array;

/** 32 random bytes: a new key. Keep them where nobody else can read: who loses them has lost what is encrypted. */
export function generateKey(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(KEY_BYTES));
}

/** A key for HKDF, from 32 random bytes. It cannot be read out again. Rejects with `invalid-argument`. */
export async function importKey(keyBytes: Uint8Array): Promise<CryptoKey> {
  if (!isByteArray(keyBytes) || keyBytes.length !== KEY_BYTES) {
    throw new HedgerowError('invalid-argument', `a key is a Uint8Array of ${KEY_BYTES} bytes`);
  }
  return subtle().importKey('raw', toUnsharedBytes(keyBytes), 'HKDF', false, ['deriveBits']);
}

/** Whether it is a `CryptoKey` for an algorithm and a usage. */
export function isKeyFor(key: unknown, algorithm: string, usage: string): key is CryptoKey {
  const usages = memberOf(key, 'usages');
  const isFor = memberOf(memberOf(key, 'algorithm'), 'name') === algorithm;
  return isFor && Array.isArray(usages) && usages.includes(usage);
}

/** The `CryptoKey` of what an app gave. Rejects with `invalid-argument` if it is not for HKDF. */
export async function rootKey(key: RootKey): Promise<CryptoKey> {
  if (isByteArray(key)) return importKey(key);
  if (isKeyFor(key, 'HKDF', 'deriveBits')) return key;
  const message =
    'a key is 32 bytes, or a CryptoKey for HKDF with the usage deriveBits: see importKey';
  throw new HedgerowError('invalid-argument', message);
}

/** Bytes that only `key`, `saltBytes` and `info` together give; `info` says what they are for. */
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
