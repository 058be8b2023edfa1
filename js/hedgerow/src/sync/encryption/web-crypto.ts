/** WebCrypto, which does all encryption here. */

import { HedgerowError } from '../../base/errors.js';

/** Returns WebCrypto. Throws `unsupported` where it is missing: in React Native, and in pages without HTTPS. */
export function subtle(): SubtleCrypto {
  const found = globalThis.crypto?.subtle;
  if (found !== undefined) return found;
  const message = 'encryption needs crypto.subtle: React Native and pages without HTTPS lack it';
  throw new HedgerowError('unsupported', message);
}

/** Returns bytes as WebCrypto takes them: it refuses memory that threads share. */
export function toUnsharedBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isShared = !(bytes.buffer instanceof ArrayBuffer);
  return isShared ? new Uint8Array(bytes) : (bytes as Uint8Array<ArrayBuffer>);
}
