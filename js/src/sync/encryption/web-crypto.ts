/** WebCrypto, which does all encryption here. */

import { HedgerowError } from '../../base/errors.js';

/** Throws `unsupported` where there is none: React Native, and pages that came without HTTPS. */
export function subtle(): SubtleCrypto {
  const found = globalThis.crypto?.subtle;
  if (found !== undefined) return found;
  const message = 'encryption needs crypto.subtle: React Native and pages without HTTPS lack it';
  throw new HedgerowError('unsupported', message);
}

/** Bytes as WebCrypto takes them: not in memory that threads share, which it refuses. */
export function toUnsharedBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isShared = !(bytes.buffer instanceof ArrayBuffer);
  return isShared ? new Uint8Array(bytes) : (bytes as Uint8Array<ArrayBuffer>);
}
