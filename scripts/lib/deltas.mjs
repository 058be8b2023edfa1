// Exports the wrapper's sources for `scripts/studies/measure-deltas.mjs`, in one module.

export { BranchHead } from '../../js/hedgerow/src/engine/history/branch-head.js';
export { memory, open } from '../../js/hedgerow/src/index.js';
export { applyDeltas, makeDelta } from '../../js/hedgerow/src/sync/link/delta.js';
