// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** Flags of a read. The bits above them are the number of an index, from 1. */

/** Descending order. */
export const reverse = 1;
/** Keys are wanted. */
export const keys = 2;
/** Values are wanted. */
export const values = 4;
/** The range has a prefix. */
export const prefix = 8;
/** The range has a lower bound, inclusive. */
export const gte = 16;
/** The range has a lower bound, exclusive. */
export const gt = 32;
/** The range has an upper bound, inclusive. */
export const lte = 64;
/** The range has an upper bound, exclusive. */
export const lt = 128;
/** Secondary keys are wanted. */
export const secondary = 256;
/** The lowest bit of the number of an index; number 0 reads rows. */
export const indexShift = 9;
