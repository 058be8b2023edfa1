/** Keys of sum trees: 32 bytes, or strings with a hash of 32 bytes. */

import { sha256 } from '@noble/hashes/sha2.js';
import { HedgerowError } from '../../base/errors.js';
import { isByteArray } from '../../base/is-byte-array.js';
import { LONE_SURROGATE } from '../../base/key.js';
import { kindOf } from '../../base/runtime-type-checks.js';

/** Bytes of a key. */
export const SUM_KEY_BYTES = 32;

/**
 * Returns the key of a string: SHA-256 of its UTF-8. Takes any length, even 0, and does not normalise. Throws
 * `invalid-argument/key` for half of a surrogate pair, which UTF-8 cannot represent.
 */
export function sumKey(text: string): Uint8Array {
  if (typeof text !== 'string') {
    throw new HedgerowError('invalid-argument/key', `the key is not a string but ${kindOf(text)}`);
  }
  if (LONE_SURROGATE.test(text)) {
    throw new HedgerowError('invalid-argument/key', 'the key holds half of a surrogate pair');
  }
  return sha256(new TextEncoder().encode(text));
}

/** Returns a key as bytes. Throws `invalid-argument/key` if it is malformed. */
export function sumKeyBytes(key: Uint8Array | string): Uint8Array {
  if (typeof key === 'string') return sumKey(key);
  if (!isByteArray(key) || key.length !== SUM_KEY_BYTES) {
    const what = isByteArray(key) ? `has ${key.length} bytes` : `is ${kindOf(key)}`;
    throw new HedgerowError(
      'invalid-argument/key',
      `the key of a sum is 32 bytes or a string, this ${what}`,
    );
  }
  return key;
}
