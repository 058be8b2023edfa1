// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** How far a commit has an index. */

/** It does not have it. */
export const none = 0;
/** Up to some row. */
export const partial = 1;
/** All of it. */
export const complete = 2;
