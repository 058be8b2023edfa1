/** What queries with conditions of their own, and watches, need besides. */

export { rowChanges } from './changes.js';
export { wantedOf } from './match.js';
