/** The parts of a store that its remotes use. */

import type { SharedStore } from '../../engine/history/state-shared-by-branches.js';
import type { UnfinishedChanges } from '../../engine/read/unfinished-changes.js';
import type { Durability } from '../../storage/segment-store.js';

export interface SyncHost {
  readonly shared: SharedStore;
  /** The branch of the handle. */
  readonly branchName: string;
  readonly durability: Durability;
  /** Closing the handle ends them. */
  readonly changes: UnfinishedChanges;
  /** Throws when the handle is closed. */
  check(): void;
  /** Notes that indexes may be missing, after the branch was moved to a commit without them. */
  settle(): void;
}
