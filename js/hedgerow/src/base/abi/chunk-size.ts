// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** Sizes of chunks and of their parts, in bytes: `docs/format.md` draws them. */

/** Kind and version at the start of a chunk. */
export const headerBytes = 2;
/** A hash. */
export const hashBytes = 32;
/** Highest level of a node. */
export const maxLevel = 40;
/** A node before its offsets. */
export const nodeHeaderBytes = 4;
/** A child in an internal node besides its key. */
export const childBytes = 42;
/** The largest leaf. */
export const maxLeafBytes = 21511;
/** The largest internal node. */
export const maxInnerBytes = 17453;
/** Largest value in a leaf; a larger one is out of line. */
export const maxInlineValueBytes = 4096;
/** The reference to a value out of line. */
export const valueRefBytes = 36;
/** A piece of a value, except for the last. */
export const pieceBytes = 0x1_0000;
/** Most pieces of a value. */
export const mostPieces = 1024;
