/** Names of objects that are never overwritten: the hash of their bytes as they are stored. */

import { sameBytes } from '../../../base/bytes.js';
import type { RemoteKind } from '../../../base/errors.js';
import { hex } from '../../../base/hex.js';
import { invalidRemote } from './cursor.js';

/** BLAKE3 with 32 bytes: the core's, or that of a library. */
export type HashFunction = (bytes: Uint8Array) => Uint8Array;

/** `p` has packs, `d` long deltas. */
export type Folder = 'p' | 'd';

/** The path of an object under the prefix of its remote. */
export function objectPath(folder: Folder, nameBytes: Uint8Array): string {
  return `${folder}/${hex(nameBytes)}`;
}

/** Throws `invalid-remote` unless the bytes are those that the name says. Hashes all of them. */
export function verifyObjectName(
  object: RemoteKind,
  nameBytes: Uint8Array,
  bytes: Uint8Array,
  hash: HashFunction,
): void {
  if (!sameBytes(hash(bytes), nameBytes)) {
    throw invalidRemote(object, `its bytes are not those of ${hex(nameBytes)}`, 0);
  }
}
