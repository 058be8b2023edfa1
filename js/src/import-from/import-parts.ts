/** All that is loaded later. */

export { openEntries } from './entry-source.js';
export { openStore } from './idb-source.js';
export { runImport, tryImport } from './run-import.js';
