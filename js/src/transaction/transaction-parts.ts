/** What is loaded when a transaction first begins, in one file. */
export { deleteEntries } from './delete-entries.js';
export { Transactions } from './run.js';
