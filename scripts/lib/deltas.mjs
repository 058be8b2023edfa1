// What `scripts/measure-deltas.mjs` takes of the sources of the wrapper, in one module.

export { BranchHead } from '../../js/src/engine/history/branch-head.js';
export { memory, open } from '../../js/src/index.js';
export { applyDeltas, makeDelta } from '../../js/src/sync/link/delta.js';
