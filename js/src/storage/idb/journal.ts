/**
 * The records of the object store `refs`: a journal of the moves of each ref, one record
 * each, of which the last one counts. A small commit carries its only segment in its own
 * record, so that it is one record in one object store: half of what three would cost.
 *
 * A move leaves those before it alone, so that there is a way back when its commit turns out to
 * be damaged. One that carries a segment stays for as long as that; of the others the last
 * `MIN_HISTORY` stay, and every `SWEEP_EVERY` moves the rest is deleted, which bounds them.
 *
 * The key of a record is `[name, generation]`, or `[name, generation, id]` when it carries
 * the segment `id`. A move whose segment is being deleted may have both for a while: see
 * `deletes.ts`. The bytes are drawn in `docs/format.md`.
 */

import { toUint8Array } from '../../base/bytes.js';
import { HedgerowError } from '../../base/errors.js';
import { MIN_HISTORY } from '../../base/limits.js';
import type { Ref, RefMove, SegmentRecord, Since } from '../segment-store.js';

/** The key of a record. */
export type MoveKey =
  | [name: string, generation: number]
  | [name: string, generation: number, id: number];

/** Longest segment with its table that a record carries, in bytes. */
const MAX_CARRIED_BYTES = 32 << 10;

/** After so many moves those that carry nothing and are not kept are deleted. */
const SWEEP_EVERY = 16;

/** The key of the last number that was given out: a number, so that no move can have it. */
export const COUNTER_KEY = 0;

const COMMIT_LENGTH = 32;
/** Where a record ends that carries nothing. */
export const BARE_LENGTH = COMMIT_LENGTH + 4;
const CARRIED_AT = BARE_LENGTH + 4;

/** Whether the record of a move can carry what is written with it. */
export function isCarried(segments: readonly SegmentRecord[]): boolean {
  const [first] = segments;
  return (
    segments.length === 1 &&
    first !== undefined &&
    first.segmentBytes.length + first.tableBytes.length <= MAX_CARRIED_BYTES
  );
}

/** The key and the bytes of the record of a move. */
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

/** The ref that a record tells of. */
export function refOf([name, generation]: MoveKey, value: unknown): Ref {
  const bytes = readRecordBytes(value, BARE_LENGTH);
  const format = new DataView(bytes.buffer, bytes.byteOffset).getUint32(COMMIT_LENGTH, true);
  return { name, commitBytes: bytes.slice(0, COMMIT_LENGTH), generation, format };
}

/** The segment that a record carries. */
export function carriedBy(value: unknown): { segmentBytes: Uint8Array; tableBytes: Uint8Array } {
  const bytes = readRecordBytes(value, CARRIED_AT);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const end = CARRIED_AT + view.getUint32(BARE_LENGTH, true);
  if (end > bytes.length) throw buildMalformedError('move');
  return { tableBytes: bytes.slice(CARRIED_AT, end), segmentBytes: bytes.slice(end) };
}

/** The keys of moves among those of the object store. */
export function listMoveKeys(keys: readonly IDBValidKey[]): MoveKey[] {
  return keys.flatMap((key) => (key === COUNTER_KEY ? [] : [moveKey(key)]));
}

function moveKey(key: IDBValidKey): MoveKey {
  if (!Array.isArray(key)) throw buildMalformedError('key of a move');
  const [name, generation, id] = key;
  const isMove = typeof name === 'string' && isWhole(generation) && key.length <= 3;
  if (!isMove || (key.length === 3 && !isWhole(id))) throw buildMalformedError('key of a move');
  return key as unknown as MoveKey;
}

/** The last move of each ref. Keys come in ascending order. */
export function lastMoves(keys: readonly MoveKey[]): MoveKey[] {
  return keys.filter(([name], at) => keys[at + 1]?.[0] !== name);
}

/**
 * The moves among which a move to `generation` deletes those that carry nothing; `undefined` when
 * it is not its turn. The moves before them were among those of an earlier turn. Enough stay even
 * when nothing comes of the move itself.
 */
export function sweptBy(name: string, generation: number): IDBKeyRange | undefined {
  if (generation % SWEEP_EVERY !== 0) return undefined;
  const end = generation - MIN_HISTORY;
  return IDBKeyRange.bound([name, end - SWEEP_EVERY], [name, end], false, true);
}

/** All moves of a ref from a generation on. */
export function movesFrom(name: string, generation: number): IDBKeyRange {
  return IDBKeyRange.bound([name, generation], [name, []]);
}

/** All moves, of any ref, but those before `since`: ranges in the order of keys. */
export function movesSince(since: readonly Since[]): IDBKeyRange[] {
  const ranges: IDBKeyRange[] = [];
  let lower: IDBValidKey[] = [];
  for (const { name, generation } of [...since].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    ranges.push(IDBKeyRange.bound(lower, [name], false, true));
    lower = [name, generation];
  }
  return [...ranges, IDBKeyRange.lowerBound(lower)];
}

/** Whether a stored or given number can be an id, a generation or a count. */
export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The error for a record that no writer wrote. */
export function buildMalformedError(what: string): HedgerowError {
  return new HedgerowError('storage', `a stored record is malformed: ${what}`);
}

/** The bytes of a record, of which there are at least so many. */
export function readRecordBytes(value: unknown, least: number): Uint8Array {
  const bytes = toUint8Array(value);
  if (bytes === undefined || bytes.length < least) throw buildMalformedError('move');
  return bytes;
}
