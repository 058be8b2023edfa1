/** Where reads and writes of a handle, or of a snapshot, are made. */
import type { Commits, Head, HeldHead } from './commit.js';
import type { Host } from './host.js';
import type { Pending } from './pending.js';
import type { Durability } from './segment-store.js';
import type { Endings } from './signal.js';

/** Where a reader stands. */
export interface Standpoint {
  readonly host: Host;
  readonly commits: Commits;
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
  /**
   * Runs a change of several steps, which closing waits for: none can be made of a snapshot.
   * `closing` is aborted by it, what waits for its caller begins with `ends`.
   */
  readonly write?:
    | (<T>(
        change: (durability: Durability, closing: AbortSignal, ends: Endings) => Promise<T>,
      ) => Promise<T>)
    | undefined;
  /** A chunk of `head` was missing: whether there is another head to read from. */
  moveOn(head: Head): Promise<boolean>;
}
