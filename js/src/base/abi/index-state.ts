// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** How much of an index a commit has. */

/** None. */
export const none = 0;
/** Up to some row. */
export const partial = 1;
/** All of it. */
export const complete = 2;
