import { blake3 } from '@noble/hashes/blake3.js';
import { hex, turn } from 'hedgerow/kit';

/** Bytes of a slice. */
const SLICE_BYTES = 64 << 10;

/** Hashes as `hashedName` does, in slices: the server answers other requests between them. */
export async function slicedName(letter: 'p' | 'd', bytes: Uint8Array): Promise<string> {
  const hash = blake3.create();
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    hash.update(bytes.subarray(at, at + SLICE_BYTES));
    await turn();
  }
  return `${letter}/${hex(hash.digest())}`;
}
