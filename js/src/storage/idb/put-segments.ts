/** How segments are put by a transaction, and its stores that a move of a ref needs. */
import type { SegmentRecord } from '../segment-store.js';
import type { Work } from './transaction.js';

/**
 * What small writes to `refs` lock. With `tables`, which they do not touch, they wait for segments
 * that are being written: Chromium killed while it committed both at once was seen to wipe the
 * whole origin at the next start.
 */
export const REFS = ['tables', 'refs'] as const;

/**
 * Steps that put segments. A table that has no segment would be relied upon, a segment without a table
 * is only bytes that are deleted later: so the table goes first, and is undone with its segment.
 */
export function putting<T>(
  work: Work<T>,
  segments: readonly SegmentRecord[],
): (() => IDBRequest)[] {
  return segments.map(({ id, segmentBytes, tableBytes }) => () => {
    work.store('tables').put(tableBytes, id);
    return work.store('segments').put(segmentBytes, id);
  });
}
