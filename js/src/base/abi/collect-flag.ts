// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** Flags of a collection. */

/** Only look: nothing is moved. */
export const survey = 1;
/** Collect all that is dead. */
export const full = 2;
/** Nobody writes now. */
export const rest = 4;
/** There is little room. */
export const sparing = 8;
