// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** The part of an index that a commit has. */

/** No part. */
export const none = 0;
/** Up to some row. */
export const partial = 1;
/** All of it. */
export const complete = 2;
