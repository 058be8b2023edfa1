/** Roots as users see them: the hashes of commits in hexadecimal. */
import { HedgerowError } from './errors.js';
import { unhex } from './hex.js';
import { shownAs } from './runtime-type-checks.js';

/** The root of a store without rows. */
export const EMPTY_ROOT = '0'.repeat(64);

/** Reads the hash in a root. Throws `invalid-argument` if the root is malformed. */
export function parseRoot(root: string): Uint8Array {
  if (typeof root !== 'string' || !/^[0-9a-f]{64}$/.test(root)) {
    const message = `not a root, 64 hexadecimal digits: ${shownAs(root)}`;
    throw new HedgerowError('invalid-argument', message);
  }
  return unhex(root);
}
