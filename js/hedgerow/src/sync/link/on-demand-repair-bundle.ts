/** The repairs of a link, loaded at need. */

export { mendRemote } from './mend-remote.js';
export { rejoin } from './rejoin-replaced-remote.js';
