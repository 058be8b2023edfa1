/** Makes the records of moves, and finds moves before others: see `ref-journal.ts`. */
import { MIN_HISTORY } from '../../base/limits.js';
import type { RefMove, SegmentRecord } from '../segment-store.js';
import { BARE_LENGTH, CARRIED_AT, COMMIT_LENGTH, type MoveKey } from './ref-journal.js';

/** Longest segment, with its table, that a record carries, in bytes. */
const MAX_CARRIED_BYTES = 32 << 10;

/** Each time after so many moves, old moves without a segment are deleted. */
const SWEEP_EVERY = 16;

/** Returns whether the record of a move can carry the segments of its write. */
export function isCarried(segments: readonly SegmentRecord[]): boolean {
  const [first] = segments;
  return (
    segments.length === 1 &&
    first !== undefined &&
    first.segmentBytes.length + first.tableBytes.length <= MAX_CARRIED_BYTES
  );
}

/** Makes the key and the bytes of the record of a move. */
export function recordOf(
  { name, commitBytes, generation, format }: RefMove,
  carried?: SegmentRecord,
): { key: MoveKey; bytes: Uint8Array } {
  const table = carried?.tableBytes.length ?? 0;
  const length = carried ? CARRIED_AT + table + carried.segmentBytes.length : BARE_LENGTH;
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  bytes.set(commitBytes);
  view.setUint32(COMMIT_LENGTH, format, true);
  if (carried === undefined) return { key: [name, generation], bytes };
  view.setUint32(BARE_LENGTH, table, true);
  bytes.set(carried.tableBytes, CARRIED_AT);
  bytes.set(carried.segmentBytes, CARRIED_AT + table);
  return { key: [name, generation, carried.id], bytes };
}

/**
 * Returns the range in which a move to `generation` deletes the moves without a segment; `undefined` if it is not its
 * turn. Earlier turns covered the moves before the range. Enough moves stay even if this move fails.
 */
export function sweptBy(name: string, generation: number): IDBKeyRange | undefined {
  if (generation % SWEEP_EVERY !== 0) return undefined;
  const end = generation - MIN_HISTORY;
  return IDBKeyRange.bound([name, end - SWEEP_EVERY], [name, end], false, true);
}

/** Returns the range of all moves of a ref from a generation on. */
export function movesFrom(name: string, generation: number): IDBKeyRange {
  return IDBKeyRange.bound([name, generation], [name, []]);
}
