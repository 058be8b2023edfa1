// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** How rows stand in a stream of bytes. */

/** To be found out. */
export const unknown = 0;
/** A row a line. */
export const lines = 1;
/** Members of one array. */
export const array = 2;
