/**
 * Segments as records of 64 KiB, with the keys `[id, 0]`, `[id, 1]` and so on: so an engine that has no Blobs in
 * IndexedDB, or does not count them, can read a part without the rest.
 */
import { concatBytes, toUint8Array } from '../../base/bytes.js';
import { cutSegment, type SegmentRequest } from '../segment-store.js';

/** Bytes of each piece except the last. */
const PIECE_BYTES = 64 << 10;

/** The key of a piece. */
export type PieceKey = [id: number, at: number];

/** Cuts a segment into pieces, each in its own buffer. */
export function piecesOf(id: number, segmentBytes: Uint8Array): [PieceKey, Uint8Array][] {
  const count = Math.ceil(segmentBytes.length / PIECE_BYTES);
  return Array.from({ length: count }, (_, at) => [
    [id, at],
    segmentBytes.slice(at * PIECE_BYTES, (at + 1) * PIECE_BYTES),
  ]);
}

/** Returns the segment that a record of `segments` belongs to. */
export function ownerOf(key: IDBValidKey): IDBValidKey | undefined {
  return Array.isArray(key) ? key[0] : key;
}

/** Requests the pieces of the wanted bytes; then `value` joins them, or returns `undefined` without pieces. */
export function askForPieces(
  segments: IDBObjectStore,
  wanted: SegmentRequest,
): { requests: IDBRequest<unknown>[]; value: () => Uint8Array | undefined } {
  if (typeof wanted === 'number') {
    const range = IDBKeyRange.bound([wanted], [wanted, []]);
    const request = segments.getAll(range) as IDBRequest<unknown>;
    return { requests: [request], value: () => fromPieces(request.result as unknown[]) };
  }
  const { id, from, to } = wanted;
  const first = Math.floor(from / PIECE_BYTES);
  const last = Math.floor((to - 1) / PIECE_BYTES);
  const requests: IDBRequest<unknown>[] = [];
  for (let at = first; at <= last; at++) requests.push(segments.get([id, at]));
  const skipped = first * PIECE_BYTES;
  const rest = { id, from: from - skipped, to: to - skipped };
  return {
    requests,
    value: () => {
      const bytes = fromPieces(requests.map(({ result }) => result));
      return bytes && cutSegment(rest, bytes);
    },
  };
}

/** Joins the pieces before the first missing one; returns `undefined` if there are no such pieces. */
function fromPieces(values: readonly unknown[]): Uint8Array | undefined {
  const pieces = values.map(toUint8Array);
  const end = pieces.indexOf(undefined);
  const present = (end < 0 ? pieces : pieces.slice(0, end)) as Uint8Array[];
  return present.length === 0 ? undefined : concatBytes(present);
}
