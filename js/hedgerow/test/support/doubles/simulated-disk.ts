/**
 * The content of a simulated store, the effect of a transaction, and the ways in which a power failure tears a segment.
 */
import type { Durability, Ref, SegmentRecord } from '../../../src/storage/segment-store.js';
import type { Random } from '../random.js';

/** Number of segment ids for each reserved number. */
export const IDS_PER_WRITER = 2 ** 20;

/** One transaction that changes something. */
export interface Transaction {
  readonly segments: readonly SegmentRecord[];
  readonly deletes: readonly number[];
  readonly ref?: Ref;
  readonly counter?: number;
  readonly durability: Durability;
}

export class Disk {
  segments = new Map<number, SegmentRecord>();
  refs = new Map<string, Ref>();
  counter = 0;

  apply({ segments, deletes, ref, counter }: Transaction): void {
    for (const id of deletes) this.segments.delete(id);
    for (const segment of segments) this.segments.set(segment.id, segment);
    if (ref !== undefined) this.refs.set(ref.name, ref);
    if (counter !== undefined) this.counter = counter;
  }

  copy(): Disk {
    const copy = new Disk();
    copy.segments = new Map(this.segments);
    copy.refs = new Map(this.refs);
    copy.counter = this.counter;
    return copy;
  }
}

/** Copies the arguments of a call, so that the caller's changes have no effect. */
export const copyOf = (bytes: Uint8Array) => new Uint8Array(bytes);

export function tear(segment: SegmentRecord, from: Random): SegmentRecord | undefined {
  const { id, segmentBytes, tableBytes } = segment;
  const cut = from.below(segmentBytes.length + 1);
  const zeroed = copyOf(segmentBytes).fill(0, cut);
  const kinds: SegmentRecord[] = [
    { id, tableBytes, segmentBytes: segmentBytes.slice(0, cut) },
    { id, tableBytes, segmentBytes: zeroed },
    { id, tableBytes, segmentBytes: new Uint8Array() },
    { id, tableBytes: tableBytes.slice(0, from.below(tableBytes.length)), segmentBytes },
  ];
  return from.pick(kinds);
}
