/** All that sum trees do. It is loaded when one of them is first used. */
export { bring } from './bring.js';
export { definitionTexts } from './definition.js';
export { followed } from './follow.js';
export { diff, entries, getMany, prove } from './reads.js';
export { deleteMany, putMany } from './writes.js';
