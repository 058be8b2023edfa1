/** The work of sum trees. Loaded when a sum tree is first used. */

export { definitionTexts } from '../../core/sum-definition.js';
export { bring } from './bring.js';
export { followed } from './follow.js';
export { diff, entries, getMany, prove } from './reads.js';
export { deleteMany, putMany } from './writes.js';
