/** The context that all work with one remote shares. */

import type { BranchHead } from '../../engine/history/branch-head.js';
import type { SharedStore } from '../../engine/history/state-shared-by-branches.js';
import type { ChunkMender } from '../../engine/repair/types.js';
import type { Durability } from '../../storage/segment-store.js';
import type { Scope } from '../remote/format/cipher-suite.js';
import type { HashFunction } from '../remote/format/content-names.js';
import type { Deflate, Inflate } from '../remote/format/deflate.js';
import type { Remote } from '../remote/remote.js';
import type { Patience } from '../remote/swap-head-with-retries.js';
import type { ConflictLog } from './conflict-log.js';
import type { ConflictPolicy, SentRow } from './conflict-policy.js';
import type { HeadEntries } from './head-entries.js';
import type { SyncRefs } from './link-state.js';
import type { Heads } from './remote-head-reader.js';

/** The functions and figures that differ between platforms and tests. */
export interface SyncTools extends Patience {
  readonly hash: HashFunction;
  readonly deflate: Deflate;
  readonly inflate: Inflate;
  readonly random: (length: number) => Uint8Array;
  /** A pack ends with the edit by which it has so many bytes, before it is deflated. */
  readonly packBytes: number;
}

/** The context of a merge that brings the branch of a remote, or of a server, into the local one. */
export interface MergeContext {
  readonly shared: SharedStore;
  readonly refs: SyncRefs;
  /** The name of the branch that has the rows of the other side. */
  readonly originName: string;
  readonly local: BranchHead;
  readonly log: ConflictLog;
  readonly policy: ConflictPolicy;
  readonly durability: Durability;
  /** Reads the row that an unanswered push has sent: if the other side has it, that is no change of the other side. */
  readonly sent?: ((key: string) => Promise<SentRow | undefined>) | undefined;
  settle(): void;
}

/** One remote of one branch, of which a replica is made. */
export interface SyncParts extends MergeContext {
  readonly remote: Remote;
  /** The branch at the remote. */
  readonly remoteBranch: string;
  /** The scope of its heads. */
  readonly scope: Scope;
  readonly heads: Heads;
  readonly origin: BranchHead;
  /** The app's version of its rows. */
  readonly app: number;
  readonly tools: SyncTools;
}

/** The rows of a remote in a store: all of them, or a part. */
export interface Replica {
  /** Whether rows are fetched when they are read. */
  readonly isPartial: boolean;
  /** Moves the branch of the remote to a head by its checkpoint; resolves to `false` if a ref moved. */
  land(found: HeadEntries, job: SyncJob): Promise<boolean>;
  /** Merges the branch of the remote into the local one, as one commit. */
  merge(seq: number, job: SyncJob): Promise<MergeCounts>;
}

/** One remote of one branch, with its replica. */
export interface SyncContext extends SyncParts {
  readonly replica: Replica;
  /** Makes the mender, which fetches damaged chunks. The maker of the connection loads it. */
  mender?: (() => Promise<ChunkMender>) | undefined;
}

/** The result of a pull. */
export interface PullResult {
  /** The number of the head that was pulled; 0 without a head. */
  readonly seq: number;
  /** Rows that it changed in the local branch. */
  readonly rows: number;
  /** Keys that both sides had changed, to different values. */
  readonly conflicts: number;
}

/** The counts of a merge. */
export type MergeCounts = Pick<PullResult, 'rows' | 'conflicts'>;

/** A call of the app, or of a loop. */
export interface SyncJob {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: SyncProgress) => void) | undefined;
  /** Called after each pull that has changed rows or decided conflicts, also for pulls of a push that may yet fail. */
  readonly onPull?: ((pulled: PullResult) => void) | undefined;
}

/** The progress of a clone or a checkpoint. */
export interface SyncProgress {
  readonly phase: 'packs-in' | 'packs-out';
  /** Packs that have travelled, and the number of all packs, as far as it is known. */
  readonly packs: number;
  readonly allPacks: number | undefined;
  /** Bytes that have travelled. */
  readonly bytes: number;
}
