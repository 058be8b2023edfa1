// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** Other sizes that both sides use. */

/** Doubles in a reply. */
export const replyWords = 16;
/** Bytes of the shortest segment that is read in parts. */
export const leastBytesForParts = 0x1_0000;
/** A segment below this is small. */
export const smallSegmentBytes = 0x1_0000;
/** The cost of a request to storage, in bytes that are read in the same time, if the host does not set it. */
export const requestCost = 0x4_8000;
/**
 * Doubles of each level in a census: its nodes, their bytes unpacked, the same as they are stored, and the unpacked
 * bytes of the smallest and the largest.
 */
export const levelWords = 5;
