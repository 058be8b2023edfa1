// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** The kind of the value under a key. */

/** No value. */
export const absent = 0;
/** JSON text. */
export const json = 1;
/** Bytes. */
export const bytes = 2;
