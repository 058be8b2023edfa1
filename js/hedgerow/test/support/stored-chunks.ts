/** The chunks in stored segments, found through the tables of these, and damage to them; see `docs/format.md`. */
import { chunkFrom } from '../../src/base/unpack-chunk.js';
import type { SegmentRecord } from '../../src/storage/segment-store.js';
import type { WatchedStorage } from './doubles/watched-storage.js';

/** The place of a chunk in its segment. The chunk is packed if the place is shorter than its length. */
export interface Place {
  readonly start: number;
  readonly end: number;
  readonly length: number;
  readonly hash: string;
}

export interface StoredChunk extends Place {
  readonly segment: SegmentRecord;
}

/** The first byte of a chunk; in an internal node it is the level. */
export const Kind = { leaf: 0, inner: 1, commit: 0xc0, piece: 0xe0, list: 0xe1 } as const;

/** Returns the places of the chunks of a segment, including chunks at a remote. */
export function chunksOf({ tableBytes }: Pick<SegmentRecord, 'tableBytes'>): Place[] {
  const view = new DataView(tableBytes.buffer, tableBytes.byteOffset, tableBytes.length);
  const count = view.getUint32(8, true);
  const endAt = (at: number) => view.getUint32(12 + 32 * count + 4 * at, true);
  return Array.from({ length: count }, (_, at) => ({
    start: at === 0 ? 0 : endAt(at - 1),
    end: endAt(at),
    length: view.getUint32(12 + 36 * count + 4 * at, true),
    hash: Buffer.from(tableBytes.subarray(12 + 32 * at, 44 + 32 * at)).toString('hex'),
  }));
}

/** Returns the chunk at a place of a segment; `undefined` if it is at a remote, or not in its packed form there. */
export function chunkIn(
  segmentBytes: Uint8Array,
  { start, end, length }: Place,
): Uint8Array | undefined {
  return end <= segmentBytes.length
    ? chunkFrom(segmentBytes.subarray(start, end), length)
    : undefined;
}

/** Returns the chunks of a kind in the segments, in order. */
export function chunksOfKind(segments: Iterable<SegmentRecord>, kind: number): StoredChunk[] {
  return [...segments].flatMap((segment) =>
    chunksOf(segment)
      .filter((place) => chunkIn(segment.segmentBytes, place)?.[0] === kind)
      .map((place) => ({ ...place, segment })),
  );
}

/** Returns whether flipped bits of a byte leave the chunk unchanged: some bits of packed chunks do. */
export function isHarmless({ segment, start, end, length }: StoredChunk, at: number, mask = 1) {
  const [was, stored] = [0, 1].map(() => segment.segmentBytes.slice(start, end));
  stored![at] = (stored![at] ?? 0) ^ mask;
  const [before, after] = [chunkFrom(was!, length), chunkFrom(stored!, length)];
  return after !== undefined && Buffer.compare(before!, after) === 0;
}

/** Returns the place of the first byte, from the middle of a chunk on, whose flipped bits damage it. */
export function middleOf(chunk: StoredChunk, mask = 1): number {
  const length = chunk.end - chunk.start;
  let at = length >> 1;
  while (at < length && isHarmless(chunk, at, mask)) at++;
  if (at === length) throw new Error(`nothing damages the chunk ${chunk.hash}`);
  return at;
}

/** Flips a bit in the middle of each chunk, whenever its segment is read. */
export function damage({ hooks }: WatchedStorage, ...chunks: readonly StoredChunk[]): void {
  const hit = new Map<number, Set<number>>();
  for (const chunk of chunks) {
    const { id } = chunk.segment;
    hit.set(id, (hit.get(id) ?? new Set()).add(chunk.start + middleOf(chunk)));
  }
  hooks.read = (id, bytes) => {
    for (const at of hit.get(id) ?? []) bytes[at] = (bytes[at] ?? 0) ^ 1;
    return bytes;
  };
}
