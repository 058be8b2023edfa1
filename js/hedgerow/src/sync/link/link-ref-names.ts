/** The names of the branches and refs that a store keeps for a remote. */

import { CONFLICTS_END, REMOTE_BRANCHES } from '../../engine/history/branch-name.js';
import { forkOf } from '../../engine/history/branch-refs.js';
import { BRANCH_REF, REF } from '../../engine/history/known-segments-and-refs.js';

/** The record of a remote's collections, in the place of a branch. */
export const RECORD_BRANCH = '~collection';

/** Returns the name of the branch that has the last seen rows of the remote. */
export const originOf = (remote: string): string => REMOTE_BRANCHES + remote;

/** Returns the name of the branch that has the log of conflicts. */
export const conflictsOf = (remote: string): string => originOf(remote) + CONFLICTS_END;

/** The refs of one remote. The first six name commits, and protect these from collections. */
export interface Names {
  readonly origin: string;
  /** The last commit of the remote's rows that the local branch has merged. */
  readonly fork: string;
  /** The commit that is being pushed. */
  readonly pushing: string;
  /** The commit with the rows of the remote's checkpoint, if they were ever here. */
  readonly checkpoint: string;
  /** The commit of a clone so far. */
  readonly landing: string;
  readonly log: string;
  /** BLAKE3 of the last seen head. */
  readonly seen: string;
  /** The ids of the repository and of this writer. */
  readonly ids: string;
  /** The last pack that a clone has applied: see `land-checkpoint.ts`. */
  readonly landed: string;
  /** The highest key number of a seen head; absent without encryption. */
  readonly epoch: string;
  /** The number of the last seen head, and the unanswered push. */
  readonly turn: string;
  /** The last push of that head. */
  readonly push: string;
  /** BLAKE3 of the name of the branch at the remote. */
  readonly place: string;
}

/** Returns the names for the remote `remote` of the store's branch `branch`. */
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
