/** What a store gives to its remotes. */

import type { SharedStore } from '../../engine/history/shared-store.js';
import type { Changes } from '../../engine/read/changes.js';
import type { Durability } from '../../storage/segment-store.js';

export interface SyncHost {
  readonly shared: SharedStore;
  /** The branch of the handle. */
  readonly branchName: string;
  readonly durability: Durability;
  /** Closing the handle ends them. */
  readonly changes: Changes;
  /** Throws when the handle is closed. */
  check(): void;
  /** Indexes may be missing, after the branch was moved to a commit without them. */
  settle(): void;
}
