// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** The first byte of a chunk, unless it is a node: that begins with its level. */

/** A commit. */
export const commit = 192;
/** A piece of a sum tree. */
export const sumPiece = 208;
/** The first piece of a sum tree. */
export const sumTop = 209;
/** Part of a value that is stored out of line, or all of it. */
export const piece = 224;
/** The hashes of a value's pieces. */
export const pieceList = 225;
