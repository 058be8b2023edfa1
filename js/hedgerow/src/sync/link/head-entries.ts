/** The values that a pull passes from step to step. */

import type { RowTree, TailEntry } from '../remote/format/head-record.js';
import type { HeadObjects } from './head-objects.js';
import type { LinkState, Moves } from './link-state.js';
import type { SeenHead } from './remote-head-reader.js';

/** A head, the state of the connection before it came, and the rows that the branch of the remote has in that state. */
export interface HeadUpdate {
  readonly state: LinkState;
  readonly seen: SeenHead;
  readonly base: RowTree;
}

/** A head that continues the last seen one, with all that moves the branch of the remote to its rows. */
export interface HeadEntries extends HeadUpdate {
  readonly objects: HeadObjects;
  /** The entries that lead on from `base`; `undefined` if the tail does not know these rows. */
  readonly entries: readonly TailEntry[] | undefined;
  /** The moves that record the head. */
  readonly marks: Moves;
}
