/**
 * How segments, and parts of segments, are read. A segment is one record of bytes, or carried by a move of
 * a ref; one of 64 KiB or more is a Blob (`blobs.ts`) or many records (`pieces.ts`), whichever engine wrote it.
 */
import { bytesOf } from '../../base/bytes.js';
import { turn } from '../../base/scheduler.js';
import { segmentOf, type Wanted, wantedOf } from '../segment-store.js';
import { blobOf, engine, type Handles, readBlob } from './blobs.js';
import { carriedBy, type MoveKey } from './journal.js';
import { askForPieces } from './pieces.js';
import { transact, whenAll } from './transaction.js';

type Bytes = Uint8Array | undefined;

/** A segment that is there and cannot be read: the core takes that for damage, and looks for another copy. */
const UNREADABLE = () => new Uint8Array();

/** See `SegmentStore.read`. Whole segments are looked up anew, so that a verification sees what is stored. */
export async function readAll(
  db: IDBDatabase,
  wanted: readonly Wanted[],
  carriers: ReadonlyMap<number, MoveKey>,
  handles: Handles,
): Promise<Bytes[]> {
  const found: (Bytes | 'again')[] = await begunInSlices(wanted, async (one) => {
    const kept = typeof one === 'number' ? undefined : handles.get(one.id);
    return (kept && (await readBlob(kept, one))) ?? 'again';
  });
  // The first look-up of a Blob may be of one that is being deleted: the second finds that it is gone.
  for (const isLast of [false, true]) {
    const missing = [...wanted.keys()].filter((at) => found[at] === 'again');
    if (missing.length === 0) break;
    const sought = missing.map((at) => wanted[at] as Wanted);
    const records = await lookUp(db, sought, carriers);
    await begunInSlices(records, async (record, index) => {
      const [at, one] = [missing[index] as number, sought[index] as Wanted];
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
  }
  return found as Bytes[];
}

/** How long reads are begun in a row, in milliseconds: in Chromium a part of a Blob takes half a one to ask for. */
const BEGINNING_MS = 4;

/** Begins to read each, with turns of the event loop in between, and waits for all. */
async function begunInSlices<T, R>(
  items: readonly T[],
  read: (item: T, at: number) => Promise<R>,
): Promise<R[]> {
  const reading: Promise<R>[] = [];
  let startMs = performance.now();
  for (const [at, item] of items.entries()) {
    if (performance.now() - startMs > BEGINNING_MS) {
      await turn();
      startMs = performance.now();
    }
    reading.push(read(item, at));
  }
  return Promise.all(reading);
}

/** Requests in the order in which they were made, and what they have found when all have succeeded. */
interface Asked {
  readonly requests: readonly IDBRequest<unknown>[];
  value(): Bytes | Blob;
}

/** Finds what is wanted, or the Blob that has it, in one transaction. */
function lookUp(
  db: IDBDatabase,
  wanted: readonly Wanted[],
  carriers: ReadonlyMap<number, MoveKey>,
): Promise<(Bytes | Blob)[]> {
  return transact(db, ['segments', 'refs'], 'readonly', 'relaxed', (work) => {
    const [segments, refs] = [work.store('segments'), work.store('refs')];
    const record = (one: Wanted): Asked => {
      const request: IDBRequest<unknown> = segments.get(segmentOf(one));
      return { requests: [request], value: () => recordOf(request.result, one) };
    };
    const likely = (one: Wanted): Asked => {
      const carrier = carriers.get(segmentOf(one));
      if (carrier !== undefined) {
        const move: IDBRequest<unknown> = refs.get(carrier);
        const bytes = () =>
          move.result === undefined
            ? undefined
            : wantedOf(one, carriedBy(move.result).segmentBytes);
        return { requests: [move], value: bytes };
      }
      if (engine().takesBlobs) return record(one);
      if (typeof one !== 'number') return askForPieces(segments, one);
      // Nobody knows how long it is.
      return either(record(one), askForPieces(segments, one));
    };
    // A part may lie behind the last piece, and a segment that was carried is stored as others are when its ref goes.
    const anywhere = (one: Wanted): Asked => {
      const records = either(record(one), askForPieces(segments, one));
      const first: IDBRequest<unknown> = segments.get([segmentOf(one), 0]);
      const none = () => (first.result === undefined ? undefined : new Uint8Array());
      return either(records, { requests: [first], value: none });
    };
    const asked = wanted.map(likely);
    answered(work, asked, (values) => {
      const missing = [...values.keys()].filter((at) => values[at] === undefined);
      const again = missing.map((at) => anywhere(wanted[at] as Wanted));
      answered(work, again, (others) => {
        for (const [index, at] of missing.entries()) values[at] = others[index];
        work.answer(values);
      });
    });
  });
}

function answered(
  work: Parameters<typeof whenAll>[0],
  asked: readonly Asked[],
  then: (values: (Bytes | Blob)[]) => void,
): void {
  const requests = asked.flatMap((one) => one.requests);
  whenAll(work, requests, () => then(asked.map((one) => one.value())));
}

/** The second where the first has found nothing. */
function either(first: Asked, second: Asked): Asked {
  return {
    requests: [...first.requests, ...second.requests],
    value: () => first.value() ?? second.value(),
  };
}

function recordOf(value: unknown, wanted: Wanted): Bytes | Blob {
  const bytes = bytesOf(value);
  return bytes ? wantedOf(wanted, bytes) : blobOf(value);
}
