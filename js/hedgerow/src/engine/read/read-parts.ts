/** Reads that are loaded at first use, in one file: each further file adds its name to the start. */
export { differences } from './differences.js';
export { findMany } from './find-many.js';
export { proveRows as prove, verifyRowProof as verifyProof } from './proof.js';
export { statsOf } from './stats.js';
