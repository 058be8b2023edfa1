/** Moves a handle to another branch. Loaded at first use. */
import { HedgerowError } from '../base/errors.js';
import { refOfBranch } from '../engine/history/branch-name.js';
import type { HandleAccess } from './handle-access.js';

/** Moves a handle to another branch, once its earlier changes have ended. */
export async function switchBranch(own: HandleAccess, name: string): Promise<void> {
  const { edits, changes, flushers, from } = own;
  const { branchHead } = from;
  const ref = refOfBranch(name);
  const change = async () => {
    // A change that has begun since then builds on the previous branch.
    if (!changes.areOver) return false;
    if (flushers.size > 0)
      throw new HedgerowError('blocked', 'a writer is open: close or abort it first');
    await branchHead.switchTo(ref);
    return true;
  };
  do {
    await edits.awaitFlush();
    while (!changes.areOver) await changes.over();
    own.checkOpen();
  } while (!(await branchHead.shared.queueWork(change)));
  own.settle();
}
