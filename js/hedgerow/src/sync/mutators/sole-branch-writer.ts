/** Gives a bound branch one writer: the next pull would undo the writes of another one. */
import { HedgerowError } from '../../base/errors.js';
import type { BranchHead } from '../../engine/history/branch-head.js';
import type { SharedStore } from '../../engine/history/state-shared-by-branches.js';

const owners = new WeakSet<object>();
const ownedRefs = new WeakMap<SharedStore, Set<string>>();

/** Makes every other head of this open store refuse to write rows of the branch, unless they are `allowed` to. */
export function ownBranch(owner: BranchHead, allowed: boolean): void {
  owners.add(owner);
  if (allowed) return;
  const { shared, ref } = owner;
  const refs = ownedRefs.get(shared) ?? new Set();
  ownedRefs.set(shared, refs.add(ref));
  shared.checkOwner = (writer) => {
    if (!refs.has(writer.ref) || owners.has(writer)) return;
    const message =
      'app.mutate makes the rows of this branch: the next pull would undo any other write';
    throw new HedgerowError('invalid-argument', message);
  };
}
