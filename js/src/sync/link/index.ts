/** Sync, in one file, which is loaded when `db.remote` is first called. */
export { type Link, loadParts } from './link.js';
export { contextOf, createLink, type LinkOptions } from './open-link.js';
