/** The part of Node's `crypto` that tests use. */
import { sha256 } from '@noble/hashes/sha2.js';
import { Buffer } from './buffer.js';

export function createHash(name: 'sha256') {
  if (name !== 'sha256') throw new Error(`no such hash in a browser: ${name}`);
  const hash = sha256.create();
  const made = {
    update(data: Uint8Array | string) {
      hash.update(typeof data === 'string' ? Buffer.from(data) : data);
      return made;
    },
    digest: () => Buffer.from(hash.digest()),
  };
  return made;
}
