// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** What a fault has instead of a level, if it is not in a node. */

/** A value out of line. */
export const value = 255;
/** The form of a node or a value. */
export const form = 254;
