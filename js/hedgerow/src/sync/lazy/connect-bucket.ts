/** Connects a store to a bucket, whole or in parts. Loaded by `db.connect(bucket())`. */

import { part } from '../../base/dynamic-import.js';
import { memberOf } from '../../base/runtime-type-checks.js';
import type { BucketTransport } from '../link/bucket.js';
import {
  type BucketConnection,
  contextOf,
  createBucketConnection,
  loadParts,
} from '../link/index.js';
import type { SyncHost } from '../link/linked-store-types.js';
import type { LazyRemote } from './open-lazy.js';

/** Connects a store to a bucket. */
export async function connectBucket(
  host: SyncHost,
  { remote, options }: BucketTransport,
): Promise<BucketConnection> {
  // A clone that fetches rows when they are read passes a remote with its own storage.
  const isLazy = memberOf(remote, 'segments') !== undefined;
  const connection = isLazy
    ? await (await lazily()).openLazy(host, remote as unknown as LazyRemote, options)
    : await createBucketConnection(host, remote, options);
  const context = contextOf(connection);
  // The first repair loads the code that fetches damaged chunks.
  context.mender = async () => (await mending()).menderOf(context);
  return connection;
}

const lazily = () => part(() => import('./on-demand-lazy-bundle.js'));
const mending = () => part(() => import('./refetch-damaged-chunks.js'));

/** Loads the parts that such connections load at need. */
export const loadBucketParts = () => Promise.all([loadParts(), lazily(), mending()]);
