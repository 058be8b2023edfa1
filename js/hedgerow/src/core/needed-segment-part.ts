/** Parts of segments that an operation needs, from storage or a remote. */
import type { SegmentPart, SegmentRequest } from '../storage/segment-store.js';

/** A part of a segment that an operation needs. */
export interface NeededPart extends SegmentPart {
  /** Whether the part is at a remote, not in the segment: see `docs/lazy.md`. No adapter gets a request for it. */
  readonly isFar: boolean;
}

/** Returns whether a part is at a remote. */
export function isFar(wanted: SegmentRequest): wanted is NeededPart {
  return (wanted as Partial<NeededPart>).isFar === true;
}
