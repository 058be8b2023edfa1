// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** What a call answers. */

/** Finished. */
export const done = 0;
/** Segments must be loaded first. Reply: `Numbers`, their ids. */
export const need = 1;
/** The budget is spent. */
const yield_ = 2;

export { yield_ as yield };
/** The value is out of line. */
export const far = 3;
/** There is a segment. Reply: `Segment`. */
export const segment = 4;
/** A row was refused. Reply: `RowFault`. This error is the first: all that are below are none. */
export const row = 16;
/** No segment has a chunk. Reply: `ChunkFault`, its hash alone. */
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
/** The sums of a sum tree do not fit. */
export const sumOverflow = 23;
/** Two rows have the same key in a sum tree. Reply: `SumFault`, as of the next three. */
export const sumKeyTwice = 24;
/** A row has no whole number where its sum is. */
export const sumNotWhole = 25;
/** A row has half of a surrogate pair in the key of its sum. */
export const sumKeyNotText = 26;
/** A row has too large a value for a sum tree. */
export const sumValueTooLarge = 27;
/** A commit would name too many trees. */
export const commitTooLarge = 28;
/** No operation was started. */
export const noOp = 0xffff_ffff;
