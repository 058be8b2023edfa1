/** Reads the table of a segment, drawn in `docs/format.md`, as `crate/trees/src/segment/` does in the core. */
export const TABLE_MAGIC = 0x5447_4448; // HDGT
export const TABLE_HEADER_BYTES = 12;
export const TABLE_ENTRY_BYTES = 40;

/** Longest segment; segments are sealed at half of it. */
export const MAX_SEGMENT_BYTES = 1 << 20;

/** A segment is sealed once it holds this many bytes, as in the core. */
export const SEGMENT_BYTES = 512 << 10;

/** The contents of a segment: bits of the byte `streams` of its table. */
export const Stream = { leaves: 1, inner: 2, values: 4 } as const;

/** Counts the chunks in a segment, and all that its well-formed table names: the others are at a remote. */
export function chunkCounts(tableBytes: Uint8Array): {
  readonly here: number;
  readonly all: number;
} {
  const { buffer, byteOffset, length } = tableBytes;
  const view = new DataView(buffer, byteOffset, length);
  const all = view.getUint32(8, true);
  return { here: view.getUint16(6, true) || all, all };
}

/** In words of four bytes: the length of the header, the place of the count of hashes, and the length of a hash. */
const HEADER_WORDS = TABLE_HEADER_BYTES / 4;
const COUNT_WORD = 2;
const HASH_WORDS = 8;

/** Returns whether a table, well-formed or not, has a hash whose first four bytes are this number. */
export function hasHashFrom(tableBytes: Uint8Array, start: number): boolean {
  const bytes = tableBytes.byteOffset % 4 === 0 ? tableBytes : new Uint8Array(tableBytes);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  const end = HEADER_WORDS + HASH_WORDS * (words[COUNT_WORD] ?? 0);
  // Use the engine's own search: in a fresh page our own loop takes ten times as long.
  let at = HEADER_WORDS - 1;
  do at = words.indexOf(start | 0, at + 1);
  while (at >= 0 && at < end && (at - HEADER_WORDS) % HASH_WORDS !== 0);
  return at >= 0 && at < end;
}

/** Returns where a chunk of a well-formed table ends in the segment; 0 for the index before the first. */
export function chunkEnd(tableBytes: Uint8Array, all: number, index: number): number {
  if (index < 0) return 0;
  const { buffer, byteOffset, length } = tableBytes;
  const at = TABLE_HEADER_BYTES + 32 * all + 4 * index;
  return new DataView(buffer, byteOffset, length).getUint32(at, true);
}

/** Returns the length of a chunk of a well-formed table. A chunk that takes less in the segment is packed there. */
export function chunkLength(tableBytes: Uint8Array, all: number, index: number): number {
  const { buffer, byteOffset, length } = tableBytes;
  const at = TABLE_HEADER_BYTES + 36 * all + 4 * index;
  return new DataView(buffer, byteOffset, length).getUint32(at, true);
}

/** Returns the length of a segment by its table, which must be well-formed. */
export function readSegmentLength(tableBytes: Uint8Array): number {
  const { here, all } = chunkCounts(tableBytes);
  return chunkEnd(tableBytes, all, here - 1);
}
