// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** The malformed part of a chunk or table, as far as a read finds it: numbers of [`Field`](crate::error::Field). */

/** The first byte: the kind of a chunk, or the level of a node. */
export const kind = 0;
/** The version of the format. */
export const version = 1;
/** The number of members. */
export const count = 2;
/** The length of the whole. */
export const length = 3;
/** An offset in a table of offsets. */
export const offset = 4;
/** The length of a key. */
export const keyLength = 5;
/** A key that is not valid UTF-8. */
export const keyText = 6;
/** A key that does not sort after the one before it. */
export const keyOrder = 7;
/** The length of a value. */
export const valueLength = 8;
/** A cumulative entry count that does not grow. */
export const entryCount = 9;
/** The level of a child is not one less than its parent's. */
export const childLevel = 10;
/** The last key of a child is not the one that its parent names. */
export const childKey = 11;
/** The entry count of a child is not the one that its parent names. */
export const childCount = 12;
