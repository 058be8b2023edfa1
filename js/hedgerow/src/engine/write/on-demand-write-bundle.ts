/** The code that is loaded when the first write begins, in one file. */
export { commitEdits } from './commit-edits.js';
export { dropRange, ingestRows } from './put-many.js';
