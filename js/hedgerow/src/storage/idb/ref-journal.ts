/**
 * The records of the object store `refs`: a journal of the moves of each ref, one record for each move. The last one
 * counts. The record of a small commit carries its only segment: one record in one object store costs half of three.
 *
 * A move leaves the moves before it, so that there is a way back from a damaged commit. A move that carries a segment
 * stays as long as the segment. Of the other moves the last `MIN_HISTORY` stay; every `SWEEP_EVERY` moves the rest is
 * deleted, which bounds their number.
 *
 * The key of a record is `[name, generation]`, or `[name, generation, id]` if it carries the segment `id`. During the
 * deletion of its segment a move may have both: see `deletes.ts`. `docs/format.md` draws the bytes.
 */

import { toUint8Array } from '../../base/bytes.js';
import { HedgerowError } from '../../base/errors.js';
import type { Ref, Since } from '../segment-store.js';

/** The key of a record. */
export type MoveKey =
  | [name: string, generation: number]
  | [name: string, generation: number, id: number];

/** The key of the last reserved number. It is a number, which is the key of no move. */
export const COUNTER_KEY = 0;

/** Bytes of the hash of a commit, with which a record begins. */
export const COMMIT_LENGTH = 32;
/** The length of a record without a segment. */
export const BARE_LENGTH = COMMIT_LENGTH + 4;
/** Where the table that a record carries begins. */
export const CARRIED_AT = BARE_LENGTH + 4;

/** Reads the ref in a record. */
export function refOf([name, generation]: MoveKey, value: unknown): Ref {
  const bytes = readRecordBytes(value, BARE_LENGTH);
  const format = new DataView(bytes.buffer, bytes.byteOffset).getUint32(COMMIT_LENGTH, true);
  return { name, commitBytes: bytes.slice(0, COMMIT_LENGTH), generation, format };
}

/** Reads the segment that a record carries. */
export function carriedBy(value: unknown): { segmentBytes: Uint8Array; tableBytes: Uint8Array } {
  const bytes = readRecordBytes(value, CARRIED_AT);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const end = CARRIED_AT + view.getUint32(BARE_LENGTH, true);
  if (end > bytes.length) throw buildMalformedError('move');
  return { tableBytes: bytes.slice(CARRIED_AT, end), segmentBytes: bytes.slice(end) };
}

/** Lists the keys of moves among the keys of the object store. */
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

/** Returns the last move of each ref. Keys come in ascending order. */
export function lastMoves(keys: readonly MoveKey[]): MoveKey[] {
  return keys.filter(([name], at) => keys[at + 1]?.[0] !== name);
}

/** Returns the ranges of all moves of all refs, except moves before `since`, in the order of keys. */
export function movesSince(since: readonly Since[]): IDBKeyRange[] {
  const ranges: IDBKeyRange[] = [];
  let lower: IDBValidKey[] = [];
  for (const { name, generation } of [...since].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    ranges.push(IDBKeyRange.bound(lower, [name], false, true));
    lower = [name, generation];
  }
  return [...ranges, IDBKeyRange.lowerBound(lower)];
}

/** Returns whether a value can be an id, a generation or a count. */
export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Builds the error for a record that no writer of Hedgerow made. */
export function buildMalformedError(what: string): HedgerowError {
  return new HedgerowError('unavailable/storage', `a stored record is malformed: ${what}`);
}

/** Returns the bytes of a record. Throws if there are fewer than `least`. */
export function readRecordBytes(value: unknown, least: number): Uint8Array {
  const bytes = toUint8Array(value);
  if (bytes === undefined || bytes.length < least) throw buildMalformedError('move');
  return bytes;
}
