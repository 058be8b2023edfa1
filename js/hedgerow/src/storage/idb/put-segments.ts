/** Puts segments in a transaction. */
import { leastBytesForParts } from '../../base/abi/size.js';
import type { SegmentRecord } from '../segment-store.js';
import { engine } from './blobs.js';
import type { TransactionWork } from './idb-transaction.js';
import { piecesOf } from './segment-pieces.js';

/**
 * Returns steps that put segments. A handle would rely on a table without a segment; a segment without a table is only
 * bytes that are deleted later. So the table goes first, and is undone with its segment.
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
    // A piece that finds no space undoes the table and the pieces before it; the pieces behind it are only bytes.
    const pieces = piecesOf(id, segmentBytes);
    return pieces.reduce((_, [key, bytes]): IDBRequest => records.put(bytes, key), table);
  });
}
