/** All that sum trees do. It is loaded when one of them is first used. */

export { definitionTexts } from '../core/sum-definition.js';
export { bring } from './bring.js';
export { followed } from './follow.js';
export { diff, entries, getMany, prove } from './reads.js';
export { deleteMany, putMany } from './writes.js';
