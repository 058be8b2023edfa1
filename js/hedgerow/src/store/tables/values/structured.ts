/** `values: 'structured'`: all types of `structuredClone` that rows need, in JSON. `docs/values.md` has the form. */

export { decodeStructured } from './decode-structured.js';
export { encodeStructured } from './encode-structured.js';
