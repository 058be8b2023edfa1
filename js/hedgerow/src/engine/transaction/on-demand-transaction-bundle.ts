/** The code that is loaded when the first transaction begins, in one file. */
export { deleteEntries } from './delete-by-index.js';
export { Transactions } from './run.js';
export { insert, update } from './single-row.js';
