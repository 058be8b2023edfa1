// Exports the wrapper's sources for `scripts/measure-deltas.mjs`, in one module.

export { BranchHead } from '../../js/src/engine/history/branch-head.js';
export { memory, open } from '../../js/src/index.js';
export { applyDeltas, makeDelta } from '../../js/src/sync/link/delta.js';
