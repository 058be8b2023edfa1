/** What reads and writes of a handle, or reads of a snapshot, work on. */

import type { Host } from '../../core/engine-host.js';
import type { Durability } from '../../storage/segment-store.js';
import type { BranchHead, Head, HeldHead } from '../history/branch-head.js';
import type { PendingEdits } from '../history/pending-edits.js';
import type { Changes } from './changes.js';

/** The commit and the store that a reader reads. */
export interface ReadContext {
  readonly host: Host;
  readonly branchHead: BranchHead;
  /** The commit that is read; valid while `isReady`. */
  readonly head: Head;
  /** Whether a read can run in the turn of its call. */
  readonly isReady: boolean;
  /** Whether it always reads the same commit, like a snapshot. */
  readonly isPinned?: boolean;
  /** Edits of the handle that its reads wait for; a snapshot has none. */
  readonly pending?: PendingEdits;
  /** Throws if nothing can be read any more, such as after `close`. */
  check(): void;
  /** Resolves once `isReady`. */
  ready(): Promise<void>;
  /** Holds the commit that is read. */
  holdHead(): Promise<HeldHead>;
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
  /** After a chunk of `head` was missing: whether there is a newer head to read. */
  moveOn(head: Head): Promise<boolean>;
}

/** The context of a handle: reads see the head. Short reads do not hold it. */
export function readContext(
  host: Host,
  branchHead: BranchHead,
  pending: PendingEdits,
  check: () => void,
  changes: Changes,
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
      return host.engine.isReady;
    },
    ready: () => host.recover(),
    holdHead: () => branchHead.holdHead(),
    async moveOn(head) {
      await branchHead.shared.queueWork(() => branchHead.refresh());
      return branchHead.head !== head;
    },
  };
}
