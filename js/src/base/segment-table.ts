/** The table of a segment, drawn in `docs/format.md`; the core has the same in `crate/trees/src/segment.rs`. */
import { FORMAT } from './limits.js';

export const TABLE_MAGIC = 0x5447_4448; // HDGT
export const TABLE_HEADER_BYTES = 12;
export const TABLE_ENTRY_BYTES = 36;

/** Longest segment: they are sealed at half of it. */
export const MAX_SEGMENT_BYTES = 1 << 20;

/** A segment is sealed as soon as it holds this many bytes, as in the core. */
export const SEGMENT_BYTES = 512 << 10;

const HASH_BYTES = 32;

/** What is in a segment: bits of the byte `streams` of its table. */
export const Stream = { leaves: 1, inner: 2, values: 4 } as const;

/** The length of a segment, by its table, which must be well-formed. */
export function segmentLength(tableBytes: Uint8Array): number {
  const { buffer, byteOffset, length } = tableBytes;
  return new DataView(buffer, byteOffset, length).getUint32(length - 4, true);
}

/** The table of a segment whose chunks have these hashes, one after the other, and these ends. */
export function tableOf(
  streams: number,
  hashesBytes: Uint8Array,
  ends: readonly number[],
): Uint8Array {
  const tableBytes = new Uint8Array(TABLE_HEADER_BYTES + ends.length * TABLE_ENTRY_BYTES);
  const view = new DataView(tableBytes.buffer);
  view.setUint32(0, TABLE_MAGIC, true);
  view.setUint8(4, FORMAT);
  view.setUint8(5, streams);
  view.setUint32(8, ends.length, true);
  tableBytes.set(hashesBytes, TABLE_HEADER_BYTES);
  const endsAt = TABLE_HEADER_BYTES + ends.length * HASH_BYTES;
  for (const [nth, end] of ends.entries()) view.setUint32(endsAt + 4 * nth, end, true);
  return tableBytes;
}
