/** The work of sum trees. Loaded when a sum tree is first used. */

export { definitionTexts } from '../../core/sum-definition.js';
export { buildMissingSums as followed } from './missing-sums.js';
export { diffSums as diff, entries, getMany, proveSums as prove } from './sum-reads.js';
export { bring } from './sum-update.js';
export { deleteSumLeaves as deleteMany, putSumLeaves as putMany } from './sum-writes.js';
