/** Connects a store that is only partly here. */

import { HedgerowError } from '../../base/errors.js';
import type { BucketConnection } from '../link/bucket-connection.js';
import type { SyncParts } from '../link/link-context.js';
import type { SyncHost } from '../link/linked-store-types.js';
import {
  type BucketOptions,
  contextOf,
  createBucketConnection,
} from '../link/open-bucket-connection.js';
import type { Remote } from '../remote/remote.js';
import { Fetcher } from './fetcher.js';
import type { LazySegments } from './lazy-segments.js';
import { PartialReplica } from './partial-replica.js';
import { separateRemoteLoads } from './split-local-and-remote-loads.js';

/** The remote of a transport, for a clone that is only partly here. */
export class LazyRemote {
  readonly remote: Remote;
  readonly segments: LazySegments;
  /** Whether `openLazy` has begun the store. Otherwise the remote is not worth reading in parts. */
  isBegun = false;
  readonly signal: AbortSignal | undefined;

  constructor(remote: Remote, segments: LazySegments, signal: AbortSignal | undefined) {
    this.remote = remote;
    this.segments = segments;
    this.signal = signal;
  }
}

/** Connects a store, has reads fetch what is not here, and begins an empty store. */
export async function openLazy(
  host: SyncHost,
  lazy: LazyRemote,
  options: BucketOptions,
): Promise<BucketConnection> {
  const { shared } = host;
  if (shared.host.indexes.all.length > 0 || shared.host.sums !== undefined) {
    const message =
      'a store that is partly at a remote has no indexes and no sum trees: clone it whole';
    throw new HedgerowError('unsupported', message);
  }
  // A landing compares with all tables, so the core needs all of them.
  await shared.host.complete();
  const makeReplica = (parts: SyncParts) => new PartialReplica(parts);
  const link = await createBucketConnection(host, lazy.remote, options, {}, makeReplica);
  const { tools, replica } = contextOf(link);
  const partial = replica as PartialReplica;
  const fetcher = new Fetcher(shared, lazy.segments, partial.source, tools.hash);
  lazy.segments.attach((parts) => fetcher.fetch(parts));
  separateRemoteLoads(shared.host);
  host.changes.closing.addEventListener('abort', () => lazy.segments.attach(undefined), {
    once: true,
  });
  lazy.isBegun = await partial.begin({ signal: lazy.signal });
  return link;
}
