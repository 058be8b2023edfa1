/**
 * Where frames lie in a sealed segment. A header comes first: the salt of its key and its length. Then come the frames,
 * each with its tag. The header and the first frame together have as many bytes as each other frame, so that a frame lies
 * within one record where an adapter stores records of 64 KiB.
 */
import { BLOCK_BYTES, TAG_BYTES } from '../aead.js';

/** Bytes of each stored frame but the last: see "Encryption at rest" in `docs/decisions.md`. */
export const FRAME_BYTES = 64 << 10;
const PLAIN_BYTES = FRAME_BYTES - TAG_BYTES;

export const SALT_BYTES = 16;
export const HEADER_BYTES = SALT_BYTES + 4;

/** Where one frame lies. */
export interface Place {
  /** From 0. */
  readonly at: number;
  /** In the segment as it is. */
  readonly from: number;
  readonly to: number;
  /** In the segment as it is stored. */
  readonly storedFrom: number;
  readonly storedTo: number;
}

/** The frame with a byte of the segment. */
export function frameOf(position: number): number {
  return Math.floor((position + HEADER_BYTES) / PLAIN_BYTES);
}

/** How many frames a segment has: one at least. */
export function frameCount(length: number): number {
  return Math.ceil((length + HEADER_BYTES) / PLAIN_BYTES);
}

/** Where frame `at` of a segment of `length` bytes lies. */
export function placeOf(at: number, length: number): Place {
  const from = Math.max(0, at * PLAIN_BYTES - HEADER_BYTES);
  const to = Math.min(length, (at + 1) * PLAIN_BYTES - HEADER_BYTES);
  const storedFrom = at === 0 ? HEADER_BYTES : at * FRAME_BYTES;
  return { at, from, to, storedFrom, storedTo: storedFrom + (to - from) + TAG_BYTES };
}

/** What is read of one frame. */
export interface Part {
  /** The frame. */
  readonly place: Place;
  readonly isWhole: boolean;
  /** In the segment as it is: what is decrypted. */
  readonly from: number;
  readonly to: number;
  /** In the segment as it is stored. */
  readonly storedFrom: number;
  readonly storedTo: number;
}

/**
 * What is read of a frame for bytes of the segment that lie in it: all of it with its tag, or the blocks of the cipher that
 * have these bytes.
 */
export function partOf(place: Place, from: number, to: number): Part {
  const isWhole = from <= place.from && to >= place.to;
  if (isWhole) return { ...place, place, isWhole };
  const start = Math.max(0, from - place.from);
  const skipped = start - (start % BLOCK_BYTES);
  const end = Math.min(to, place.to);
  const storedFrom = place.storedFrom + skipped;
  return {
    ...{ place, isWhole, from: place.from + skipped, to: end },
    ...{ storedFrom, storedTo: storedFrom + (end - place.from - skipped) },
  };
}

/** How many bytes are stored for a segment. */
export function storedLength(length: number): number {
  return HEADER_BYTES + length + TAG_BYTES * frameCount(length);
}
