// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** Other sizes that both sides use. */

/** Doubles in a reply. */
export const replyWords = 16;
/** Bytes of the shortest segment that is read in parts. */
export const leastBytesForParts = 0x1_0000;
/**
 * Doubles of each level in a census: its nodes, their bytes unpacked, the same as they are stored, and the unpacked
 * bytes of the smallest and the largest.
 */
export const levelWords = 5;
