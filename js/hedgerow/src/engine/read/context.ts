/** The base of all reads and writes of a handle, and of reads of a snapshot. */

import type { Host } from '../../core/operation-host.js';
import type { Durability } from '../../storage/segment-store.js';
import type { BranchHead, Head, HeldHead } from '../history/branch-head.js';
import type { PendingEdits } from '../history/pending-edits.js';
import type { UnfinishedChanges } from './unfinished-changes.js';

/** The commit and the store that a reader reads. */
export interface ReadContext {
  /** The host of the core. Reads of a head use the head's own host. */
  readonly host: Host;
  readonly branchHead: BranchHead;
  /** The commit that reads see; valid while `isReady`. */
  readonly head: Head;
  /** Whether a read can run in the turn of its call. */
  readonly isReady: boolean;
  /** Whether all reads see the same commit, as in a snapshot. */
  readonly isPinned?: boolean;
  /** The edits of the handle that its reads wait for; a snapshot has no edits. */
  readonly pending?: PendingEdits;
  /** Throws if reads are over, such as after `close`. */
  check(): void;
  /** Resolves once `isReady`. */
  ready(): Promise<void>;
  /** Holds the commit that reads see, with a view in the core. */
  holdHead(): Promise<HeldHead>;
  /** As `holdHead`, for reads: the view may be of the reader. */
  holdToRead(): Promise<HeldHead>;
  /** Runs a change of several steps: see `Changes.run`. A snapshot has no `write`. */
  readonly write?:
    | (<T>(
        signal: AbortSignal | undefined,
        waitsForCaller: boolean,
        change: (durability: Durability, signal: AbortSignal | undefined) => Promise<T>,
      ) => Promise<T>)
    | undefined;
  /** See `Changes.closing`. */
  readonly closing?: AbortSignal | undefined;
  /** After a chunk of `head` was missing, finds whether there is a newer head to read. */
  moveOn(head: Head): Promise<boolean>;
}

/** Makes the context of a handle: reads see the head. Short reads do not hold it. */
export function readContext(
  host: Host,
  branchHead: BranchHead,
  pending: PendingEdits,
  check: () => void,
  changes: UnfinishedChanges,
  durability: Durability,
): ReadContext {
  return {
    host,
    branchHead,
    pending,
    check,
    closing: changes.closing,
    write: (signal, waitsForCaller, change) =>
      changes.run(signal, waitsForCaller, (ended) => change(durability, ended)),
    get head() {
      return branchHead.head;
    },
    get isReady() {
      return branchHead.head.host.engine.isReady;
    },
    ready: () => host.recover(),
    holdHead: () => branchHead.holdHead(),
    holdToRead: () => branchHead.holdToRead(),
    async moveOn(head) {
      await branchHead.shared.queueRead(() => branchHead.refresh());
      return branchHead.head !== head;
    },
  };
}
