/** The work of sum trees. Loaded when a sum tree is first used. */

export { definitionTexts } from '../../core/sum-definition.js';
export { buildMissingSums as followed } from './missing-sums.js';
export { diff, entries, getMany, prove } from './reads.js';
export { bring } from './sum-update.js';
export { deleteMany, putMany } from './writes.js';
