/** What a store keeps of a remote: the names of its branches and refs. */

import { CONFLICTS_END, REMOTE_BRANCHES } from '../../engine/history/branch-name.js';
import { forkOf } from '../../engine/history/branch-refs.js';
import { BRANCH_REF, REF } from '../../engine/history/inventory.js';

/** What a remote has, in the place of a branch, of its collections. */
export const RECORD_BRANCH = '~collection';

/** The branch that has the rows of the remote as they were last seen. */
export const originOf = (remote: string): string => REMOTE_BRANCHES + remote;

/** The branch whose rows are the log of conflicts. */
export const conflictsOf = (remote: string): string => originOf(remote) + CONFLICTS_END;

/** The refs of one remote. The first six name commits, and keep these from collections. */
export interface Names {
  readonly origin: string;
  /** The commit up to which the local branch has what the remote had. */
  readonly fork: string;
  /** The commit that is being pushed. */
  readonly pushing: string;
  /** The commit that has the rows of the remote's checkpoint, if they were ever here. */
  readonly checkpoint: string;
  /** What a clone has so far. */
  readonly landing: string;
  readonly log: string;
  /** BLAKE3 of the last head that was seen. */
  readonly seen: string;
  /** The ids of the repository and of this writer. */
  readonly ids: string;
  /** The pack that a clone has applied last: see `land-checkpoint.ts`. */
  readonly landed: string;
  /** The highest number of a key that a head was encrypted with; not there without encryption. */
  readonly epoch: string;
  /** Number of the last head that was seen, and the push that nobody has answered. */
  readonly turn: string;
  /** The last push of that head. */
  readonly push: string;
  /** BLAKE3 of the name of the branch at the remote. */
  readonly place: string;
}

/** The names for the remote `remote` of the branch `branch` of the store. */
export function buildLinkNames(remote: string, branch: string): Names {
  const origin = originOf(remote);
  const state = `sync/${encodeURIComponent(remote)}`;
  return {
    origin: BRANCH_REF + origin,
    fork: forkOf(origin, branch === '' ? REF : branch),
    pushing: `${BRANCH_REF}${origin}/pushing`,
    checkpoint: `${BRANCH_REF}${origin}/checkpoint`,
    landing: `${BRANCH_REF}${origin}/landing`,
    log: BRANCH_REF + conflictsOf(remote),
    seen: `${state}/seen`,
    ids: `${state}/ids`,
    landed: `${state}/landed`,
    epoch: `${state}/epoch`,
    turn: `${state}/turn`,
    push: `${state}/push`,
    place: `${state}/place`,
  };
}
