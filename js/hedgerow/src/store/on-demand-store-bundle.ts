/**
 * The parts that an open store, and `importStore`, load later, in one file: each further file would cut the code of a
 * page's start into more pieces, which it loads one by one.
 */
export * as branches from '../engine/branches/branches.js';
export * as merge from '../engine/branches/merge.js';
export { revert } from '../engine/branches/revert.js';
export * as exporting from '../engine/transfer/export.js';
export * as importing from '../engine/transfer/import.js';
export { cloneStore } from './clone-from-remote.js';
export { openBranchHandle } from './open-branch-handle.js';
export { resetTo } from './reset-branch.js';
export { switchBranch } from './switch-branch.js';
