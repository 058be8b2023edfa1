/** What `clone` loads for a store that is only partly here. */

export { LazyRemote } from './open.js';
export { LazyStorage } from './segments.js';
