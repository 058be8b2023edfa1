// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** Flags of a read. The number of an index, from 1, stands above them. */

/** Descending order. */
export const reverse = 1;
/** Keys are wanted. */
export const keys = 2;
/** Values are wanted. */
export const values = 4;
/** The range has a prefix. */
export const prefix = 8;
/** The range has a lower bound, which belongs to it. */
export const gte = 16;
/** The range has a lower bound, which does not belong to it. */
export const gt = 32;
/** The range has an upper bound, which belongs to it. */
export const lte = 64;
/** The range has an upper bound, which does not belong to it. */
export const lt = 128;
/** Secondary keys are wanted. */
export const secondary = 256;
/** Where the number of an index begins; 0 reads rows. */
export const indexShift = 9;
