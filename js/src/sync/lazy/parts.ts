/** What `clone` and `db.remote()` load for a store that is only partly here. */

export { LazyRemote, openLazy } from './open.js';
export { LazyStorage } from './segments.js';
