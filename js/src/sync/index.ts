/** Sync, in one file, which is loaded when `db.remote` is first called. */
export { contextOf, type Link, type LinkOptions, openLink } from './link.js';
