/** How segments, and parts of segments, are read. */
import { bytesOf } from '../../base/bytes.js';
import { segmentOf, type Wanted, wantedOf } from '../segment-store.js';
import { carriedBy, type MoveKey } from './journal.js';
import { transact, whenAll } from './transaction.js';

/** Reads in one transaction: see `SegmentStore.read`. */
export function readOnce(
  db: IDBDatabase,
  wanted: readonly Wanted[],
  carriers: ReadonlyMap<number, MoveKey>,
): Promise<(Uint8Array | undefined)[]> {
  if (wanted.length === 0) return Promise.resolve([]);
  return transact(db, ['segments', 'refs'], 'readonly', 'relaxed', (work) => {
    const [segments, refs] = [work.store('segments'), work.store('refs')];
    const ids = wanted.map(segmentOf);
    const requests: IDBRequest<unknown>[] = ids.map((id) => {
      const carrier = carriers.get(id);
      return carrier === undefined ? segments.get(id) : refs.get(carrier);
    });
    whenAll(work, requests, (results) => {
      // When its ref is deleted a segment that was carried is stored as all others are.
      const again = ids.filter((id, at) => carriers.has(id) && results[at] === undefined);
      const moved = again.map((id): IDBRequest<unknown> => segments.get(id));
      whenAll(work, moved, (others) => {
        const found = ids.map((id, at) => {
          const bytes = results[at];
          if (bytes === undefined && carriers.has(id)) return bytesOf(others[again.indexOf(id)]);
          return carriers.has(id) ? carriedBy(bytes).segmentBytes : bytesOf(bytes);
        });
        work.answer(found.map((bytes, at) => bytes && wantedOf(wanted[at] as Wanted, bytes)));
      });
    });
  });
}
