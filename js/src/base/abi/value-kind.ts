// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** What is stored under a key. */

/** Nothing. */
export const absent = 0;
/** JSON text. */
export const json = 1;
/** Bytes. */
export const bytes = 2;
