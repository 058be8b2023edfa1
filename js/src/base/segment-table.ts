/** The table of a segment, drawn in `docs/format.md`; the core has the same in `crate/trees/src/segment/`. */
export const TABLE_MAGIC = 0x5447_4448; // HDGT
export const TABLE_HEADER_BYTES = 12;
export const TABLE_ENTRY_BYTES = 40;

/** Longest segment: they are sealed at half of it. */
export const MAX_SEGMENT_BYTES = 1 << 20;

/** A segment is sealed as soon as it holds this many bytes, as in the core. */
export const SEGMENT_BYTES = 512 << 10;

/** What is in a segment: bits of the byte `streams` of its table. */
export const Stream = { leaves: 1, inner: 2, values: 4 } as const;

/** How many chunks a segment has by its table, which must be well-formed, and how many this names: the others are at a remote. */
export function chunkCounts(tableBytes: Uint8Array): {
  readonly here: number;
  readonly all: number;
} {
  const { buffer, byteOffset, length } = tableBytes;
  const view = new DataView(buffer, byteOffset, length);
  const all = view.getUint32(8, true);
  return { here: view.getUint16(6, true) || all, all };
}

/** Where a chunk of a well-formed table ends in the segment; 0 for the one before the first. */
export function chunkEnd(tableBytes: Uint8Array, all: number, index: number): number {
  if (index < 0) return 0;
  const { buffer, byteOffset, length } = tableBytes;
  const at = TABLE_HEADER_BYTES + 32 * all + 4 * index;
  return new DataView(buffer, byteOffset, length).getUint32(at, true);
}

/** The length of a chunk of a well-formed table. If it takes less in the segment, it is packed there. */
export function chunkLength(tableBytes: Uint8Array, all: number, index: number): number {
  const { buffer, byteOffset, length } = tableBytes;
  const at = TABLE_HEADER_BYTES + 36 * all + 4 * index;
  return new DataView(buffer, byteOffset, length).getUint32(at, true);
}

/** The length of a segment, by its table, which must be well-formed. */
export function segmentLength(tableBytes: Uint8Array): number {
  const { here, all } = chunkCounts(tableBytes);
  return chunkEnd(tableBytes, all, here - 1);
}
