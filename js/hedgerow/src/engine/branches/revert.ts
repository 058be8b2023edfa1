/**
 * Takes one change back: brings the difference from the commit after it to the commit before it into the head. A row
 * whose value changed again after the change is a conflict.
 *
 * The revert looks up only the rows of the change in the head: later changes do not add to its cost.
 */

import { checkSignal } from '../../base/abort-signal.js';
import { hex } from '../../base/hex.js';
import { untilWon } from '../../base/pauses.js';
import { parseRoot } from '../../base/root-hash.js';
import { sameValue } from '../../base/same-value.js';
import type { BranchHead } from '../history/branch-head.js';
import { findMany } from '../read/find-many.js';
import { KeyParts } from '../read/key-batches.js';
import type { SnapshotRoot } from '../read/pinned-commit.js';
import { holdNamed } from './branches.js';
import { attempt } from './merge.js';
import {
  type ConflictDecisions,
  type MergeJob,
  type MergeViews,
  type Pair,
  ThreeWay,
} from './three-way.js';

/** The result of a revert. */
export interface RevertResult {
  /** The root of the branch after the revert, in hexadecimal. */
  readonly root: string;
  /** The number of rows that the revert changed. */
  readonly rows: number;
  /** The keys, in order, of rows that changed again after the change; they keep their values. */
  readonly kept: readonly string[];
}

/** Takes back the change from `before` to `after`: roots, or snapshots. */
export async function revert(
  branchHead: BranchHead,
  before: string | SnapshotRoot,
  after: string | SnapshotRoot,
  job: MergeJob,
): Promise<RevertResult> {
  if (before === after && typeof before === 'string') {
    parseRoot(before);
    return { root: hex(branchHead.head.commitBytes), rows: 0, kept: [] };
  }
  const theirs = await holdNamed(branchHead, before);
  try {
    const base = await holdNamed(branchHead, after);
    try {
      const [baseBytes, theirsBytes] = [base.commitBytes, theirs.commitBytes];
      const sides = { baseBytes, theirsBytes, also: [], release: () => {} };
      const way = { hold: async () => sides, pairs: nowOther, otherwise: 'ours' } as const;
      const decisions: ConflictDecisions = new Map();
      const { root, rows, kept } = await untilWon(async (tries) => {
        checkSignal(job.signal);
        // `onConflict` must not see an outdated head.
        await branchHead.shared.queueWork(() => branchHead.refresh());
        return attempt(new ThreeWay(branchHead, way, job, decisions), tries);
      });
      return { root, rows, kept };
    } finally {
      base.release();
    }
  } finally {
    theirs.release();
  }
}

/** Looks the rows of the change up in the head. */
export async function* nowOther(reading: MergeViews): AsyncGenerator<Pair, void, void> {
  const { host, base, ours, theirs, check } = reading;
  for await (const changes of reading.changes(base, theirs)) {
    check();
    const keys = new KeyParts(changes.map(({ key }) => key));
    const values = await findMany(host, ours, keys, check);
    for (const [at, change] of changes.entries()) {
      const value = values[at];
      const was = change.op === 'insert' ? undefined : change.oldValue;
      yield [change, sameValue(value, was) ? undefined : { value }];
    }
  }
}
