/** How segments are put by a transaction, and its stores that a move of a ref needs. */
import { leastBytesForParts } from '../../base/abi/size.js';
import type { SegmentRecord } from '../segment-store.js';
import { engine } from './blobs.js';
import type { TransactionWork } from './idb-transaction.js';
import { piecesOf } from './pieces.js';

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
  work: TransactionWork<T>,
  segments: readonly SegmentRecord[],
): (() => IDBRequest)[] {
  return segments.map(({ id, segmentBytes, tableBytes }) => () => {
    const table = work.store('tables').put(tableBytes, id);
    const records = work.store('segments');
    if (segmentBytes.length < leastBytesForParts) return records.put(segmentBytes, id);
    if (engine().takesBlobs) return records.put(new Blob([segmentBytes as BlobPart]), id);
    // One that finds no room undoes the table with those before it; those behind it are only bytes.
    const pieces = piecesOf(id, segmentBytes);
    return pieces.reduce((_, [key, bytes]): IDBRequest => records.put(bytes, key), table);
  });
}
