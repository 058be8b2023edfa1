/** Fetches the objects that heads name. */

import type { RemoteKind } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import { type Folder, objectPath, verifyObjectName } from '../remote/format/content-names.js';
import { invalidRemote } from '../remote/format/cursor.js';
import type { SyncContext, SyncJob } from './context.js';

/** An object as a head names it. */
interface ObjectRecord {
  readonly nameBytes: Uint8Array;
  /** Bytes of the object. */
  readonly length: number;
}

/** Fetches an object: one request. Rejects with `invalid-remote` if it is gone, or does not match its record. */
export async function fetchObject(
  { remote, tools }: Pick<SyncContext, 'remote' | 'tools'>,
  [folder, kind]: readonly [Folder, RemoteKind],
  { nameBytes, length }: ObjectRecord,
  { signal }: Pick<SyncJob, 'signal'>,
): Promise<Uint8Array> {
  const bytes = await remote.get(objectPath(folder, nameBytes), undefined, { signal });
  if (bytes === undefined) {
    throw invalidRemote(kind, `there is no ${hex(nameBytes)}, which the head names`, 0);
  }
  if (bytes.length !== length) throw invalidRemote(kind, `${bytes.length} bytes of ${length}`, 0);
  verifyObjectName(kind, nameBytes, bytes, tools.hash);
  return bytes;
}
