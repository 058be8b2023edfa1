/** What an operation needs: storage has it, or a remote. */
import type { SegmentPart, SegmentRequest } from '../storage/segment-store.js';

/** A part of a segment that an operation needs. */
export interface NeededPart extends SegmentPart {
  /** It is not in the segment but at a remote: see `docs/lazy.md`. No adapter is asked for it. */
  readonly isFar: boolean;
}

/** Whether it is at a remote. */
export function isFar(wanted: SegmentRequest): wanted is NeededPart {
  return (wanted as Partial<NeededPart>).isFar === true;
}
