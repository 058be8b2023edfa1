/** The replica of a store that has all rows of its remote. */

import type { HeadEntries } from './head-entries.js';
import { landCheckpoint } from './land-checkpoint.js';
import type { MergeCounts, Replica, SyncJob, SyncParts } from './link-context.js';
import { mergeIn } from './merge-remote-rows.js';

export class WholeReplica implements Replica {
  readonly isPartial = false;
  readonly #parts: SyncParts;

  constructor(parts: SyncParts) {
    this.#parts = parts;
  }

  land(found: HeadEntries, job: SyncJob): Promise<boolean> {
    return landCheckpoint(this.#parts, found, job);
  }

  merge(seq: number, job: SyncJob): Promise<MergeCounts> {
    return mergeIn(this.#parts, seq, job);
  }
}
