/** The parts of an import that `loadImport` loads. */

export { openEntries } from './entry-source.js';
export { openStore } from './idb-source.js';
export { runImport, tryImport } from './run-import.js';
