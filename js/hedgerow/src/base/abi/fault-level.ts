// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** The place of a fault that is not in a node, instead of its level. */

/** A value out of line. */
export const value = 255;
/** The form of a node or a value. */
export const form = 254;
