// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** Other sizes that both sides use. */

/** Doubles in a reply. */
export const replyWords = 16;
/** Doubles of each level in a census. */
export const levelWords = 4;
