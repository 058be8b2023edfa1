// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** What a fault is told of that no level of a tree has. */

/** A value out of line. */
export const value = 255;
/** The form of a node or a value. */
export const form = 254;
