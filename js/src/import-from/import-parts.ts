/** All that is loaded later. */

export { runImport, tryImport } from './engine.js';
export { openEntries } from './entries.js';
export { openStore } from './idb-source.js';
