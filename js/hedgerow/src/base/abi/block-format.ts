// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** The format of a block of rows: what its members are. */

/** `[key, value, …]`. */
export const pairs = 0;
/** Objects that hold their key. */
export const rows = 1;
/** Keys of rows to delete. */
export const deletes = 2;
/** Operations of a patch. */
export const patch = 3;
