/** The work of sum trees. Loaded when a sum tree is first used. */

export { definitionTexts } from '../../core/sum-tree-definition.js';
export { buildMissingSums as followed } from './build-missing-sum-trees.js';
export { diffSums as diff, entries, getMany, proveSums as prove } from './sum-tree-reads.js';
export { deleteSumLeaves as deleteMany, putSumLeaves as putMany } from './sum-tree-writes.js';
export { bring } from './update-sum-trees.js';
