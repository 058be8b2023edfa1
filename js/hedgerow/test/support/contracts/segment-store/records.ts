/** Records that the cases of the storage contract write, and views of a load that they compare. */
import type {
  RefMove,
  SegmentRecord,
  StoreContents,
  WriteBatch,
} from '../../../../src/storage/segment-store.js';

/** Bytes that depend on their seed and their position. */
export function bytes(length: number, seed: number): Uint8Array {
  const result = new Uint8Array(length);
  for (let i = 0; i < length; i++) result[i] = seed * 31 + i * 7 + (i >> 8);
  return result;
}

export function segment(id: number, length = 100): SegmentRecord {
  return { id, segmentBytes: bytes(length, id), tableBytes: bytes(20, id + 1) };
}

export function move(expected: number, seed = 1, name = 'main'): RefMove {
  return { name, expected, generation: expected + 1, commitBytes: bytes(32, seed), format: 1 };
}

export function batch(segments: readonly SegmentRecord[], to?: RefMove): WriteBatch {
  return { segments, durability: 'relaxed', ...(to && { move: to }) };
}

export function idsOf({ tables }: Pick<StoreContents, 'tables'>): number[] {
  return tables.map(({ id }) => id);
}

export function generationOf({ refs }: Pick<StoreContents, 'refs'>, name = 'main'): number {
  return refs.find((ref) => ref.name === name)?.generation ?? 0;
}

export const LARGEST_ID = Number.MAX_SAFE_INTEGER;
