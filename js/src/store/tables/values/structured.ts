/** `values: 'structured'`: all that `structuredClone` knows and rows need, in JSON. `docs/values.md` has the form. */

export { decodeStructured } from './decode.js';
export { encodeStructured } from './encode-structured.js';
