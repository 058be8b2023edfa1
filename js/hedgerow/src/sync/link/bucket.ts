/** The transport of a bucket: a place for bytes, where the copies of a store meet. */
import type { Remote } from '../remote/remote.js';
import type { BucketConnection } from './bucket-connection.js';
import type { BucketOptions } from './open-bucket-connection.js';
import type { Transport } from './transport.js';

export interface BucketTransport extends Transport<BucketConnection> {
  readonly kind: 'bucket';
  readonly remote: Remote;
  readonly options: BucketOptions;
}

/**
 * Returns the transport to a remote, where copies of this store on other devices meet: `httpRemote`, `s3Remote` and
 * `memoryRemote` make remotes. `db.connect` checks the options, and costs no request.
 */
export function bucket(remote: Remote, options: BucketOptions = {}): BucketTransport {
  return { kind: 'bucket', remote, options };
}
