/** Roots as they are told to users: hashes of commits in hexadecimal. */
import { HedgerowError } from './errors.js';
import { shownAs } from './kind.js';

/** The hash that a root stands for. */
export function bytesOf(root: string): Uint8Array {
  if (typeof root !== 'string' || !/^[0-9a-f]{64}$/.test(root)) {
    const message = `not a root, 64 hexadecimal digits: ${shownAs(root)}`;
    throw new HedgerowError('invalid-argument', message);
  }
  return Uint8Array.from(root.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}
