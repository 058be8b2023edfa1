/** The entry of sync: one file, which the first call of `db.remote` loads. */
export { type Link, loadParts } from './link.js';
export { contextOf, createLink, type LinkOptions } from './open-link.js';
