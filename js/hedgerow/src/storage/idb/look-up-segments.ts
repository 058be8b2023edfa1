/** Looks up the records of segments. */
import { toUint8Array } from '../../base/bytes.js';
import { cutSegment, type SegmentRequest, segmentOf } from '../segment-store.js';
import { blobOf, engine, type Handles } from './blobs.js';
import { runIdbTransaction, whenAll } from './idb-transaction.js';
import { carriedBy, type MoveKey } from './ref-journal.js';
import { askForPieces } from './segment-pieces.js';

export type Bytes = Uint8Array | undefined;

/** Requests, in their order, and their result after the success of all. */
interface RecordLookup {
  readonly requests: readonly IDBRequest<unknown>[];
  value(): Bytes | Blob;
}

/** Finds the wanted bytes, or the Blobs that have them, in one transaction. */
export function lookUp(
  db: IDBDatabase,
  wanted: readonly SegmentRequest[],
  carriers: ReadonlyMap<number, MoveKey>,
): Promise<(Bytes | Blob)[]> {
  return runIdbTransaction(db, ['segments', 'refs'], 'readonly', 'relaxed', (work) => {
    const [segments, refs] = [work.store('segments'), work.store('refs')];
    const search = engine().takesBlobs ? together(segments, wanted) : apart(segments);
    const likely = (one: SegmentRequest): RecordLookup => {
      const carrier = carriers.get(segmentOf(one));
      if (carrier !== undefined) {
        const move: IDBRequest<unknown> = refs.get(carrier);
        const bytes = () =>
          move.result === undefined
            ? undefined
            : cutSegment(one, carriedBy(move.result).segmentBytes);
        return { requests: [move], value: bytes };
      }
      if (engine().takesBlobs) return search.find(one);
      if (typeof one !== 'number') return askForPieces(segments, one);
      // The length is unknown, and so the kind of record.
      return either(search.find(one), askForPieces(segments, one));
    };
    // A part may lie behind the last piece, and a carried segment gets records like the others when its ref goes.
    const anywhere = (one: SegmentRequest): RecordLookup => {
      const records = either(search.find(one), askForPieces(segments, one));
      const first: IDBRequest<unknown> = segments.get([segmentOf(one), 0]);
      const none = () => (first.result === undefined ? undefined : new Uint8Array());
      return either(records, { requests: [first], value: none });
    };
    const asked = wanted.map(likely);
    awaitLookups(work, search.requests, asked, (values) => {
      const missing = [...values.keys()].filter((at) => values[at] === undefined);
      const again = missing.map((at) => anywhere(wanted[at] as SegmentRequest));
      awaitLookups(work, [], again, (others) => {
        for (const [index, at] of missing.entries()) values[at] = others[index];
        work.answer(values);
      });
    });
  });
}

/** The first requests, and the function that then finds the record of each segment. */
interface Search {
  readonly requests: readonly IDBRequest<unknown>[];
  find(one: SegmentRequest): RecordLookup;
}

/** Requests each record by itself. */
function apart(segments: IDBObjectStore): Search {
  const byId = new Map<number, IDBRequest<unknown>>();
  return {
    requests: [],
    find(one) {
      const id = segmentOf(one);
      const before = byId.get(id);
      const request = before ?? segments.get(id);
      byId.set(id, request);
      const requests = before ? [] : [request];
      return { requests, value: () => recordOf(request.result, one) };
    },
  };
}

/** The least number of segments to request at once. */
const MANY = 16;
/** Segments are close to each other if their range has fewer ids than this factor times their number. */
const CLOSE = 4;

/** Requests the records of segments at once if they are many, and close together: that takes a quarter of the time. */
function together(segments: IDBObjectStore, wanted: readonly SegmentRequest[]): Search {
  const ids = [...new Set(wanted.map(segmentOf))].sort((a, b) => a - b);
  const [first = 0, last = 0] = [ids[0], ids[ids.length - 1]];
  if (ids.length < MANY || last - first >= CLOSE * ids.length) return apart(segments);
  const range = askForRange(segments, IDBKeyRange.bound(first, last));
  const find = (one: SegmentRequest): RecordLookup => ({
    requests: [],
    value: () => recordOf(range.toMap().get(segmentOf(one)), one),
  });
  return { requests: range.requests, find };
}

/** Requests the records of a range; then `found` returns them by their keys. */
function askForRange(segments: IDBObjectStore, range: IDBKeyRange, most?: number) {
  const keys = segments.getAllKeys(range, most) as IDBRequest<unknown>;
  const records = segments.getAll(range, most) as IDBRequest<unknown>;
  let found: ReadonlyMap<unknown, unknown> | undefined;
  return {
    requests: [keys, records],
    toMap() {
      const values = records.result as unknown[];
      found ??= new Map((keys.result as unknown[]).map((key, at) => [key, values[at]]));
      return found;
    },
  };
}

/**
 * Keeps the Blobs behind one that was looked up for a part: reads of keys one by one would wait for each Blob, and many
 * Blobs cost as little as a few.
 */
export async function lookAhead(
  db: IDBDatabase,
  one: SegmentRequest,
  handles: Handles,
): Promise<void> {
  const { ahead } = handles;
  const id = segmentOf(one);
  if (typeof one === 'number' || ahead === 0 || handles.get(id) === undefined) return;
  const behind = IDBKeyRange.bound(id, Number.POSITIVE_INFINITY, true);
  const found = await runIdbTransaction<ReadonlyMap<unknown, unknown>>(
    db,
    ['segments'],
    'readonly',
    'relaxed',
    (work) => {
      const range = askForRange(work.store('segments'), behind, ahead);
      whenAll(work, range.requests, () => work.answer(range.toMap()));
    },
  );
  // A deletion waits for this transaction, so no Blob of a segment that it deletes is kept after it.
  for (const [id, record] of found) {
    const blob = blobOf(record);
    if (blob !== undefined) handles.keep(id as number, blob);
  }
}

function awaitLookups(
  work: Parameters<typeof whenAll>[0],
  first: readonly IDBRequest<unknown>[],
  asked: readonly RecordLookup[],
  then: (values: (Bytes | Blob)[]) => void,
): void {
  const requests = [...first, ...asked.flatMap((one) => one.requests)];
  whenAll(work, requests, () => then(asked.map((one) => one.value())));
}

/** Takes the result of the second look-up if the first finds nothing. */
function either(first: RecordLookup, second: RecordLookup): RecordLookup {
  return {
    requests: [...first.requests, ...second.requests],
    value: () => first.value() ?? second.value(),
  };
}

function recordOf(value: unknown, wanted: SegmentRequest): Bytes | Blob {
  const bytes = toUint8Array(value);
  return bytes ? cutSegment(wanted, bytes) : blobOf(value);
}
