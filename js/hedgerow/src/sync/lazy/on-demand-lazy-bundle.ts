/** The parts that `clone` and `db.connect()` load for a store that is only partly here. */

export { LazyStorage } from './lazy-segments.js';
export { LazyRemote, openLazy } from './open-lazy.js';
