/** Where reads and writes of a handle, or of a snapshot, are made. */

import type { Host } from '../core/host.js';
import type { BranchHead, Head, HeldHead } from '../history/branch-head.js';
import type { Pending } from '../history/pending.js';
import type { Durability } from '../storage/segment-store.js';
import type { Changes } from './changes.js';

/** Where a reader stands. */
export interface ReadContext {
  readonly host: Host;
  readonly branchHead: BranchHead;
  /** What is read, while `isReady`. */
  readonly head: Head;
  /** Whether a read can be made in the turn of its call. */
  readonly isReady: boolean;
  /** It stays at one commit. */
  readonly isPinned?: boolean;
  /** Edits of the handle that its reads come after; a snapshot has none. */
  readonly pending?: Pending;
  /** Throws when nothing can be read any more. */
  check(): void;
  /** Resolves when `isReady`. */
  ready(): Promise<void>;
  /** Holds what is read. */
  holdHead(): Promise<HeldHead>;
  /** Runs a change of several steps: see `Changes.run`. None can be made of a snapshot. */
  readonly write?:
    | (<T>(
        signal: AbortSignal | undefined,
        waitsForCaller: boolean,
        change: (durability: Durability, signal: AbortSignal | undefined) => Promise<T>,
      ) => Promise<T>)
    | undefined;
  /** See `Changes.closing`. */
  readonly closing?: AbortSignal | undefined;
  /** A chunk of `head` was missing: whether there is another head to read from. */
  moveOn(head: Head): Promise<boolean>;
}

/** Where a handle of a store stands: reads see the head, which nobody holds for a short one. */
export function readContext(
  host: Host,
  branchHead: BranchHead,
  pending: Pending,
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
      await branchHead.shared.queued(() => branchHead.refresh());
      return branchHead.head !== head;
    },
  };
}
