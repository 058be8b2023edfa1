/** Opens a connection to a bucket: checks its options, and the store's state of the remote. */

import { sameBytes } from '../../base/bytes.js';
import { anything, checkStoreName, type OptionsOf, optionsOf } from '../../base/check-options.js';
import { HedgerowError } from '../../base/errors.js';
import { sleep } from '../../base/pauses.js';
import { deltaCalls } from '../../core/calls/delta-calls.js';
import { BranchHead } from '../../engine/history/branch-head.js';
import { refOfBranch } from '../../engine/history/branch-name.js';
import type { Durability } from '../../storage/segment-store.js';
import { encryptionCheck } from '../../storage/storage-checks.js';
import { checkedRemote } from '../remote/checked-remote.js';
import { PLAIN_SCOPE, type RemoteEncryption } from '../remote/format/cipher-suite.js';
import { deflate, inflate } from '../remote/format/deflate.js';
import { utf8 } from '../remote/format/field-codec.js';
import { PACK_BYTES } from '../remote/format/format-limits.js';
import { isReserved } from '../remote/object-names.js';
import type { Remote } from '../remote/remote.js';
import { BucketConnection } from './bucket-connection.js';
import { ConflictLog } from './conflict-log.js';
import { type ConflictPolicy, checkPolicy } from './conflict-policy.js';
import type { Replica, SyncContext, SyncParts, SyncTools } from './link-context.js';
import { buildLinkNames, originOf } from './link-ref-names.js';
import { SyncRefs } from './link-state.js';
import type { SyncHost } from './linked-store-types.js';
import { meterRemote, type Traffic } from './metered-remote.js';
import { beginLink } from './prepare-link-refs.js';
import { Heads } from './remote-head-reader.js';
import { WholeReplica } from './replica-with-all-rows.js';

const BUCKET_OPTIONS = {
  /** The store's name for this remote; `origin` by default. Its branches are `remote/<name>` and below. */
  name: anything<string>(),
  /** The branch at the remote; `main` by default. */
  remoteBranch: anything<string>(),
  /** Decides rows that both sides have changed; `'fields'` by default. */
  policy: anything<ConflictPolicy>(),
  /**
   * The app's own version of its rows, from 0 to 2^32 - 1; 0 by default. After a later version has written, this one
   * pulls, but `push` rejects with `newer-version/format`.
   */
  app: anything<number>(),
  /**
   * Whether the first push of this store probes the remote (`probeRemote`), unless another device has; true by default.
   * `push` rejects with `remote/unsafe` if the remote grants what it must refuse.
   */
  probe: anything<boolean>(),
  /**
   * The encryption of all objects of the remote: `remoteKeys` of `hedgerow/encryption` makes it. A remote is encrypted
   * from its first push on, or never: otherwise `pull` and `push` reject with `wrong-key`.
   */
  encryption: encryptionCheck<RemoteEncryption>(),
};

/** The options of `bucket`. */
export interface BucketOptions extends OptionsOf<typeof BUCKET_OPTIONS> {}

const contexts = new WeakMap<BucketConnection, SyncContext>();

/** Returns the context of a connection, for other rooms. */
export function contextOf(connection: BucketConnection): SyncContext {
  return contexts.get(connection) as SyncContext;
}

/** Makes a connection. */
export async function createBucketConnection(
  host: SyncHost,
  remote: Remote,
  options: BucketOptions,
  given: Partial<SyncTools> = {},
  makeReplica: (parts: SyncParts) => Replica = (parts) => new WholeReplica(parts),
): Promise<BucketConnection> {
  const wanted = optionsOf('bucket', options, BUCKET_OPTIONS);
  const { name = 'origin', remoteBranch = 'main' } = wanted;
  const branch = host.branchName;
  const { policy = 'fields', app = 0, probe = true, encryption } = wanted;
  checkStoreName(name);
  checkPolicy(policy);
  if (typeof remoteBranch === 'string' && isReserved(remoteBranch)) {
    throw new HedgerowError(
      'invalid-argument',
      'remoteBranch: a name that begins with ~ is reserved',
    );
  }
  if (!Number.isInteger(app) || app < 0 || app >= 2 ** 32) {
    throw new HedgerowError('invalid-argument', 'app is an integer from 0 to 2^32 - 1');
  }
  if (encryption && typeof encryption.suite?.toRead !== 'function') {
    throw new HedgerowError('invalid-argument', 'encryption is what remoteKeys() returns');
  }
  const { shared, durability } = host;
  let core = await deltaCalls(shared.host);
  // After a trap the core has a new instance: each call begins with the current one.
  const renew = async () => {
    core = await deltaCalls(shared.host);
  };
  const tools: SyncTools = {
    hash: (bytes) => core.hash(bytes),
    deflate,
    inflate,
    random: (length) => crypto.getRandomValues(new Uint8Array(length)),
    packBytes: PACK_BYTES,
    sleep,
    chance: Math.random,
    ...given,
  };
  const names = buildLinkNames(name, branch);
  const refs = new SyncRefs(shared, names);
  const traffic: Traffic = { requests: 0, sentBytes: 0, receivedBytes: 0 };
  const own = meterRemote(checkedRemote('bucket', remote), traffic);
  const scope = { ...PLAIN_SCOPE, ...encryption, contextBytes: utf8(remoteBranch) };
  const heads = new Heads(own, remoteBranch, tools.hash, scope);
  const reset = await beginLink(shared, refs, durability);
  await follow(refs, name, tools.hash(utf8(remoteBranch)), durability);
  const origin = new BranchHead(shared, names.origin);
  const local = new BranchHead(shared, refOfBranch(branch));
  origin.isBare = true;
  try {
    for (const one of [origin, local]) await shared.queueWork(() => one.refresh());
  } catch (cause) {
    for (const one of [origin, local]) one.leave();
    throw cause;
  }
  const log = new ConflictLog(shared, refs, durability);
  const parts: SyncParts = {
    ...{ shared, remote: own, remoteBranch, scope, heads, refs, origin, local, log, policy, app },
    ...{ originName: originOf(name), durability, tools, settle: () => host.settle() },
  };
  const context: SyncContext = { ...parts, replica: makeReplica(parts) };
  // A store that has pushed once has found it safe.
  const mustProbe = probe && refs.bytes('pushing') === undefined;
  const connection = new BucketConnection(host, context, {
    ...{ traffic, name, mustProbe, renew, reset },
  });
  contexts.set(connection, context);
  return connection;
}

/** Makes a connection follow a branch of its remote; once it has seen a head, it follows no other branch. */
async function follow(
  refs: SyncRefs,
  name: string,
  placeBytes: Uint8Array,
  durability: Durability,
): Promise<void> {
  const before = refs.bytes('place');
  if (before !== undefined && sameBytes(before, placeBytes)) return;
  const { seq, pending } = await refs.look();
  if (before !== undefined && (seq > 0 || pending !== undefined)) {
    const message = `the remote ${name} of this store follows another remoteBranch: give this one another name`;
    throw new HedgerowError('invalid-argument', message);
  }
  await refs.move({ place: placeBytes }, durability);
}
