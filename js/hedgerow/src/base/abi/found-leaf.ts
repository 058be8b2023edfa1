// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** A leaf of a sum tree in an answer: bytes from its start. */

/** 32 bytes. */
export const key = 0;
/** 8 bytes. */
export const sum = 32;
/** Start and end of its value, and its mark: 4 bytes each. */
export const start = 40;
/** See `START`. */
export const end = 44;
/** See `START`. */
export const mark = 48;
/** Bytes of a leaf. */
export const bytes = 52;
