/** Moves a handle to another branch. Loaded at first use. */
import { HedgerowError } from '../base/errors.js';
import type { BranchHead } from '../engine/history/branch-head.js';
import { refOfBranch } from '../engine/history/branch-name.js';
import type { UnfinishedChanges } from '../engine/read/unfinished-changes.js';
import type { SingleEdits } from '../engine/write/single-edits.js';

/** The work that a handle has under way. */
interface UnderWay {
  readonly edits: Pick<SingleEdits, 'awaitFlush'>;
  readonly changes: Pick<UnfinishedChanges, 'areOver' | 'over'>;
  /** The flushers of open writers. */
  readonly flushers: ReadonlySet<unknown>;
}

/** Moves a handle to another branch, once its earlier changes have ended. */
export async function switchBranch(
  branchHead: BranchHead,
  name: string,
  { edits, changes, flushers }: UnderWay,
  checkOpen: () => void,
): Promise<void> {
  const ref = refOfBranch(name);
  const change = async () => {
    // A change that has begun since then builds on the previous branch.
    if (!changes.areOver) return false;
    if (flushers.size > 0)
      throw new HedgerowError('blocked', 'a writer is open: finish or abort it first');
    await branchHead.switchTo(ref);
    return true;
  };
  do {
    await edits.awaitFlush();
    while (!changes.areOver) await changes.over();
    checkOpen();
  } while (!(await branchHead.shared.queueWork(change)));
}
