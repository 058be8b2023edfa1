/** The table of a segment, drawn in `docs/format.md`; `crate/trees/src/segment/` reads it in the core. */
export const TABLE_MAGIC = 0x5447_4448; // HDGT
export const TABLE_HEADER_BYTES = 12;
export const TABLE_ENTRY_BYTES = 40;

/** Longest segment; segments are sealed at half of it. */
export const MAX_SEGMENT_BYTES = 1 << 20;

/** A segment is sealed once it holds this many bytes, as in the core. */
export const SEGMENT_BYTES = 512 << 10;

/** The contents of a segment: bits of the byte `streams` of its table. */
export const Stream = { leaves: 1, inner: 2, values: 4 } as const;
