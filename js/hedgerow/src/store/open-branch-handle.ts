/** Opens another handle, on another branch. Loaded at first use. */
import { type BranchOptions, openBranch } from '../engine/branches/branches.js';
import type { HandleAccess } from './handle-access.js';

/** Opens a handle of the branch `name`, which is made if it does not exist. */
export async function openBranchHandle<Db>(
  own: HandleAccess<Db>,
  name: string,
  options: BranchOptions = {},
): Promise<Db> {
  const { from, durability } = own;
  from.check();
  const check = () => own.checkOpen();
  return own.handleOf(await openBranch(from.branchHead, name, options, durability, check));
}
