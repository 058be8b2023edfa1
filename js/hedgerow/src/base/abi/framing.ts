// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** How a stream of bytes is divided into rows. */

/** The first bytes decide. */
export const unknown = 0;
/** One row in each line. */
export const lines = 1;
/** Members of one array. */
export const array = 2;
