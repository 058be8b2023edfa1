// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** Marks of parts that must be loaded first. */

/** In place of the id of a segment: a table is wanted. */
export const noSegment = -1;
