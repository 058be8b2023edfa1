/** Names of objects that are never overwritten: the hash of their bytes as they are stored. */

import { sameBytes } from '../../../base/bytes.js';
import type { RemoteKind } from '../../../base/errors.js';
import { hex } from '../../../base/hex.js';
import { invalidRemote } from './field-codec.js';

/** BLAKE3 with 32 bytes, of the core or of a library. */
export type HashFunction = (bytes: Uint8Array) => Uint8Array;

/** `p` has packs, nodes and directories; `d` has long deltas, logs, blocks of history and marks. */
export type Folder = 'p' | 'd';

/** Returns the path of an object under the prefix of its remote. */
export function objectPath(folder: Folder, nameBytes: Uint8Array): string {
  return `${folder}/${hex(nameBytes)}`;
}

/** Throws `remote/data` unless the name is the hash of the bytes. Hashes all of them. */
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
