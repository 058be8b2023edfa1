/** `hedgerow/sync`: the sides that a store may be connected with, and the places of buckets. */

export { type BucketTransport, bucket } from './link/bucket.js';
export type {
  BucketConnection,
  BucketRepairResult,
} from './link/bucket-connection.js';
export type { LoggedConflict } from './link/conflict-log.js';
export type { ConflictPolicy } from './link/conflict-policy.js';
export type { Connection } from './link/connection.js';
export type {
  ConnectionState,
  StartOptions,
  SyncStatus,
} from './link/connection-state.js';
export type { PullResult, SyncProgress } from './link/link-context.js';
export type { BucketOptions } from './link/open-bucket-connection.js';
export type { PushResult } from './link/push.js';
export type { CollectResult } from './link/remote-garbage-types.js';
export type { Transport } from './link/transport.js';
export {
  type Endpoint,
  type Mutator,
  type MutatorConnection,
  type MutatorOptions,
  type MutatorPull,
  type MutatorState,
  type Mutators,
  type MutatorTransport,
  mutators,
  type PendingCall,
  type PullRequest,
  type PushRequest,
  type RejectedCall,
  type SentCall,
  takeChanges,
} from './mutators/index.js';
export {
  type S3Request,
  s3Remote,
  s3Signer,
} from './remote/adapters/s3.js';
export {
  httpRemote,
  memoryRemote,
  parseName,
  probeRemote,
  type Remote,
  type RemoteHead,
  serverPokes,
} from './remote/index.js';
export {
  type RefusedChange,
  type RestChange,
  type RestConnection,
  type RestEndpoint,
  type RestOptions,
  type RestPulled,
  type RestPullRequest,
  type RestPush,
  type RestPushed,
  type RestPushRequest,
  type RestTransport,
  rest,
} from './rest/index.js';
