// Written by scripts/write-abi.mjs from crate/src/wasm/abi.rs; not for editing.
/** Where the words of each reply stand. */

/** A view that was opened. */
export const viewHandle = 0;
export const viewRows = 1;
/** A value; only `kind` if it is absent. */
export const valueKind = 0;
export const valueAddress = 1;
export const valueLength = 2;
/** Doubles: ids of segments, or the levels of a census. */
export const numbersAddress = 0;
export const numbersCount = 1;
/**
 * The totals of a collection, after the segments to delete once its new ones are stored (for a survey:
 * segments with live chunks). At the end the list is empty.
 */
export const collectedStoredBytes = 2;
export const collectedLiveBytes = 3;
export const collectedValueBytes = 4;
export const collectedIsExact = 5;
/** A segment that was made, and its table. */
export const segmentId = 0;
export const segmentAddress = 1;
export const segmentLength = 2;
export const segmentTable = 3;
export const segmentTableLength = 4;
/**
 * Members that were read. `text` has the values, marks say where byte values are, `keys` has all other
 * members or is empty. Positions are of the keys that a search has found.
 */
export const outputText = 0;
export const outputTextLength = 1;
export const outputBytes = 2;
export const outputMarks = 3;
export const outputMarkCount = 4;
export const outputValueCount = 5;
export const outputPositions = 6;
export const outputPositionCount = 7;
export const outputKeys = 8;
export const outputKeysLength = 9;
/** The counts of the parts that a verification has found sound so far; its faults are the output. */
export const tallyRows = 10;
export const tallyNodes = 11;
export const tallyValues = 12;
export const tallyBytes = 13;
export const tallyRemoteRows = 14;
export const tallyRemoteNodes = 15;
/** The number of rows or entries in a range. */
export const countRows = 0;
/** The progress of an ingest; `commit` is the address of a hash, 0 until it is done. */
export const ingestedRows = 0;
export const ingestedChunks = 1;
export const ingestedChunkBytes = 2;
export const ingestedCommit = 3;
/** The part of an index that a view has; if not all, the key of the last row that it covers. */
export const indexReachState = 0;
export const indexReachKey = 1;
export const indexReachKeyLength = 2;
/**
 * Bytes: a proof, a delta, the root of rows, the root and definition of a sum tree, or the names of all
 * sum trees.
 */
export const bytesAddress = 0;
export const bytesLength = 1;
/**
 * The number of edits of a delta so far, whether it was given up for its length, and whether it has ended
 * and others follow.
 */
export const deltaEdits = 2;
export const deltaIsTooLong = 3;
export const deltaHasEnded = 4;
/** Whether an index has exactly the entries of its rows, and the address of the hash of its root. */
export const indexCheckedIsSame = 0;
export const indexCheckedRoot = 1;
/** Leaves of a sum tree, and their values. */
export const sumLeavesAddress = 0;
export const sumLeavesCount = 1;
export const sumLeavesValues = 2;
/** The counts of the parts that a verification of a sum tree has found sound so far. */
export const sumTallyLeaves = 0;
export const sumTallyPieces = 1;
export const sumTallyValues = 2;
/**
 * The segments and chunks that the cache knows, the bytes in memory, and the reads that found their
 * chunk in memory or not.
 */
export const cacheSegments = 0;
export const cacheChunks = 1;
export const cacheStoredBytes = 2;
export const cacheCachedBytes = 3;
export const cacheSmallSegments = 4;
export const cacheHits = 5;
export const cacheMisses = 6;
/** The reason for which a row was refused, and the place. */
export const rowFaultRow = 0;
export const rowFaultOffset = 1;
export const rowFaultFault = 2;
/** The fault of a chunk or a table, and the place. */
export const chunkFaultHash = 0;
export const chunkFaultField = 1;
export const chunkFaultOffset = 2;
export const chunkFaultExpected = 3;
export const chunkFaultGot = 4;
/** The unknown version. */
export const formatFaultVersion = 0;
/** The sum tree and the row whose sum failed; the key of the row follows the name. */
export const sumFaultName = 0;
export const sumFaultNameLength = 1;
export const sumFaultKeyLength = 2;
