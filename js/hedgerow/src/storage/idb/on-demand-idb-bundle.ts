/** The code that changes, frees or examines stores in IndexedDB, in one file. A page loads it at its first write. */
export { destroyDatabase } from './destroy-database.js';
export { StoreSpace } from './free-store-space.js';
export { joinTables } from './join-segment-tables.js';
export { isPrivateWindow } from './private-window.js';
export { historyOnce } from './ref-history.js';
export { exact, reserveOnce, writeOnce } from './writes.js';
