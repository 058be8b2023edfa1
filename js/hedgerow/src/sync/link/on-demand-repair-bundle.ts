/** The repairs of a connection, loaded at need. */

export { mendRemote } from './mend-remote.js';
export { rejoin } from './rejoin-replaced-remote.js';
