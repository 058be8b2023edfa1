/** `hedgerow/sync`: the sides that a store may be connected with, and the places of buckets. */

export type { Progress } from '../engine/write/ingest-result.js';
export { type BucketTransport, bucket } from './link/bucket.js';
export type {
  BucketConnection,
  BucketRepairOptions,
  BucketRepairResult,
  RejoinOptions,
} from './link/bucket-connection.js';
export type { LoggedConflict } from './link/conflict-log.js';
export type { ConflictPolicy } from './link/conflict-policy.js';
export type { Connection } from './link/connection.js';
export type {
  BucketStartOptions,
  ConnectionState,
  StartOptions,
  SyncStatus,
} from './link/connection-state.js';
export type { PullResult, SyncProgress } from './link/link-context.js';
export type { BucketOptions } from './link/open-bucket-connection.js';
export type { PushResult } from './link/push.js';
export type {
  CollectOptions,
  CollectProgress,
  CollectResult,
} from './link/remote-garbage-types.js';
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
} from './mutators/index.js';
export {
  type S3Credentials,
  type S3RemoteOptions,
  type S3Request,
  s3Remote,
  s3Signer,
} from './remote/adapters/s3.js';
export {
  type ByteRange,
  type HttpRemoteOptions,
  hashedName,
  headName,
  httpRemote,
  type ListPrefix,
  memoryRemote,
  type ParsedName,
  parseName,
  probeRemote,
  type ReadHeadOptions,
  type Remote,
  type RemoteHead,
  type RemoteObject,
  type RemoteOptions,
  type Swap,
  serverPokes,
} from './remote/index.js';
export {
  type RefusedChange,
  type RestConnection,
  type RestEndpoint,
  type RestOptions,
  type RestPulled,
  type RestPullRequest,
  type RestPush,
  type RestPushed,
  type RestPushRequest,
  type RestTransport,
  type RowChange,
  rest,
} from './rest/index.js';
