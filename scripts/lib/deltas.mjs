// What `scripts/measure-deltas.mjs` takes of the sources of the wrapper, in one module.

export { BranchHead } from '../../js/src/history/branch-head.js';
export { memory, open } from '../../js/src/index.js';
export { applyDeltas, makeDelta } from '../../js/src/sync/delta.js';
