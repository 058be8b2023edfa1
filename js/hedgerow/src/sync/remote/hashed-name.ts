import { blake3 } from '@noble/hashes/blake3.js';
import { HedgerowError } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import { isByteArray } from '../../base/is-byte-array.js';

/**
 * Returns the name of these bytes as a pack (`p`) or delta (`d`). Takes about 25 ms per MiB. Throws `invalid-argument`.
 */
export function hashedName(letter: 'p' | 'd', bytes: Uint8Array): string {
  if (!isByteArray(bytes) || (letter !== 'p' && letter !== 'd')) {
    throw new HedgerowError('invalid-argument', 'hashedName takes p or d, and a Uint8Array');
  }
  return `${letter}/${hex(blake3(bytes))}`;
}
