/** Reads well-formed tables of segments. */
import { TABLE_HEADER_BYTES } from './segment-table.js';

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
