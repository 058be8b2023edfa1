/** Roots as they are told to users: hashes of commits in hexadecimal. */
import { HedgerowError } from './errors.js';
import { kindOf } from './kind.js';

/** The hash that a root stands for. */
export function bytesOf(root: string): Uint8Array {
  if (typeof root !== 'string' || !/^[0-9a-f]{64}$/.test(root)) {
    const shown = typeof root === 'string' ? root : kindOf(root);
    throw new HedgerowError('invalid-argument', `not a root, 64 hexadecimal digits: ${shown}`);
  }
  return Uint8Array.from(root.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}
