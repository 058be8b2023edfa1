/** The ways back of a link, which are loaded at need. */

export { mendRemote } from './mend-remote.js';
export { rejoin } from './rejoin.js';
