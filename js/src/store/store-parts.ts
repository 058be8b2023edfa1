/**
 * What an open store loads later, and `importStore`, in one file: each file more would cut what a page
 * begins with in more pieces, which it loads one by one.
 */
export * as branches from '../branches/branches.js';
export * as merge from '../branches/merge.js';
export { revert } from '../branches/revert.js';
export * as exporting from '../transfer/export.js';
export * as importing from '../transfer/import.js';
export { cloneStore } from './clone.js';
export { resetTo } from './reset.js';
export { switchBranch } from './switch-branch.js';
