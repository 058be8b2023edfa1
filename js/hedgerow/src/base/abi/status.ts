// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** The answer of a call. */

/** Finished. */
export const done = 0;
/**
 * Parts of segments must be loaded first. Reply: `Numbers`, three for each part: the id of its segment, and where
 * it begins and ends; 0 and 0 for the whole segment. If a remote has the chunk, its end is negative. For a chunk
 * whose table has not come: `need::NO_SEGMENT`, the first bytes of its hash, and 1; with 0 and 0 for all tables
 * that have not come.
 */
export const need = 1;
/** The budget is spent. */
const yield_ = 2;

export { yield_ as yield };
/** The value is out of line. */
export const far = 3;
/** There is a segment. Reply: `Segment`. */
export const segment = 4;
/** A row was refused. Reply: `RowFault`. This is the lowest error: smaller numbers are not errors. */
export const row = 16;
/** A chunk is in no segment. Reply: `ChunkFault` with its hash only. */
export const missingChunk = 17;
/** A chunk is damaged. Reply: `ChunkFault`; its field is -1 when the hash is wrong. */
export const corruptChunk = 18;
/** A chunk is of a later format. Reply: `FormatFault`. */
export const unsupportedFormat = 19;
/** A table is malformed. Reply: `ChunkFault` without a hash. */
export const malformed = 20;
/** A proof does not verify. */
export const invalidProof = 21;
/** A proof would be too large. */
export const proofTooLarge = 22;
/** The total of a sum tree does not fit. */
export const sumOverflow = 23;
/** Two rows have the same key in a sum tree. Reply: `SumFault`, as for the next three. */
export const sumKeyTwice = 24;
/** The sum of a row is not a whole number. */
export const sumNotWhole = 25;
/** The key of a row's sum has half of a surrogate pair. */
export const sumKeyNotText = 26;
/** The value of a row is too large for a sum tree. */
export const sumValueTooLarge = 27;
/** A commit would name too many trees. */
export const commitTooLarge = 28;
/** No operation was started. */
export const noOp = 0xffff_ffff;
