/** Reads that are loaded at first use, in one file: each further file adds its name to the start. */
export { differences } from './diff-two-roots.js';
export { findMany } from './find-many.js';
export { proveRows as prove, verifyRowProof as verifyProof } from './proof.js';
export { statsOf } from './store-stats.js';
