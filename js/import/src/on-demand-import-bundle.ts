/** The parts of an import that `loadImport` loads. */

export { openStore } from './idb-source.js';
export { openEntries } from './iterable-source.js';
export { runImport, tryImport } from './run-import.js';
