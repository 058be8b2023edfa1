/** Sync, in one file, which is loaded when `db.remote` is first called. */
export { openLink } from './link.js';
