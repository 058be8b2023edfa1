// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** Flags of a collection. */

/** Only mark: do not move or delete chunks. */
export const survey = 1;
/** Collect all dead chunks. */
export const full = 2;
/** The store is idle. */
export const rest = 4;
/** Little space is left. */
export const sparing = 8;
