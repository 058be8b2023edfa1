/**
 * Reads segments, and parts of segments. A segment is one record of bytes, or carried by a move of a ref; one of 64 KiB
 * or more is a Blob (`blobs.ts`) or many records (`segment-pieces.ts`), by the engine that wrote it.
 */
import { startInSlices } from '../../base/start-in-slices.js';
import { type SegmentRequest, segmentOf } from '../segment-store.js';
import { blobOf, type Handles, readBlob } from './blobs.js';
import { type Bytes, lookAhead, lookUp } from './look-up-segments.js';
import type { MoveKey } from './ref-journal.js';

/** Returns the bytes of an unreadable segment: the core takes them for damage, and looks for another copy. */
const UNREADABLE = () => new Uint8Array();

/**
 * Implements `SegmentStore.read`. Looks up whole segments again, so that a verification sees the stored bytes. Begins
 * reads in slices: in Chromium the request for a part of a Blob takes half a millisecond.
 */
export async function readAll(
  db: IDBDatabase,
  wanted: readonly SegmentRequest[],
  carriers: ReadonlyMap<number, MoveKey>,
  handles: Handles,
): Promise<Bytes[]> {
  const found: (Bytes | 'again')[] = await startInSlices(wanted, async (one) => {
    const kept = typeof one === 'number' ? undefined : handles.get(one.id);
    return (kept && (await readBlob(kept, one))) ?? 'again';
  });
  // The first look-up may find a Blob during its deletion: the second finds that it is gone.
  for (const isLast of [false, true]) {
    const missing = [...wanted.keys()].filter((at) => found[at] === 'again');
    if (missing.length === 0) break;
    const sought = missing.map((at) => wanted[at] as SegmentRequest);
    const records = await lookUp(db, sought, carriers);
    await startInSlices(records, async (record, index) => {
      const [at, one] = [missing[index] as number, sought[index] as SegmentRequest];
      const id = segmentOf(one);
      const blob = blobOf(record);
      if (blob === undefined) {
        handles.drop(id);
        found[at] = record as Bytes;
        return;
      }
      handles.keep(id, blob);
      found[at] = (await readBlob(blob, one)) ?? (isLast ? UNREADABLE() : 'again');
    });
    if (sought.length === 1) lookAhead(db, sought[0] as SegmentRequest, handles).catch(() => {});
  }
  return found as Bytes[];
}
