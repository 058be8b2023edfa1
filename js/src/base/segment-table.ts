/** The table of a segment, drawn in `docs/format.md`; the core has the same in `crate/trees/src/segment.rs`. */
export const TABLE_MAGIC = 0x5447_4448; // HDGT
export const TABLE_HEADER_BYTES = 12;
export const TABLE_ENTRY_BYTES = 36;

/** Longest segment: they are sealed at half of it. */
export const MAX_SEGMENT_BYTES = 1 << 20;

/** A segment is sealed as soon as it holds this many bytes, as in the core. */
export const SEGMENT_BYTES = 512 << 10;

/** What is in a segment: bits of the byte `streams` of its table. */
export const Stream = { leaves: 1, inner: 2, values: 4 } as const;

/** The length of a segment, by its table, which must be well-formed. */
export function segmentLength(tableBytes: Uint8Array): number {
  const { buffer, byteOffset, length } = tableBytes;
  return new DataView(buffer, byteOffset, length).getUint32(length - 4, true);
}
