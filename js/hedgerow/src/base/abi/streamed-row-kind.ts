// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** The shape of rows in a stream of bytes, passed instead of the length of a pointer to their key. */

/** `[key, value]`. */
export const pair = -1;
/** Operations of a patch. */
export const patch = -2;
