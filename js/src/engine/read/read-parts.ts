/** Reads that are loaded at their first use, in one file: each file more costs the start its name. */
export { differences } from './differences.js';
export { findMany } from './find-many.js';
export { proveRows as prove, verifyRowProof as verifyProof } from './proof.js';
export { statsOf } from './stats.js';
