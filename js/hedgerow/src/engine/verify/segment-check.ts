/** Reads segments, and records the ones that do not match their tables. */
import { kindOfError } from '../../base/errors.js';
import {
  cutSegment,
  type SegmentRequest,
  type SegmentStore,
  segmentOf,
} from '../../storage/segment-store.js';

/** A damaged record in storage. The faults of chunks show the losses. */
export interface SegmentFault {
  readonly segment: number;
  /**
   * `table`: its table is malformed, so that its chunks are unknown. `length`: it is longer or shorter than its table
   * says. `gone`: it does not exist, or cannot be read.
   */
  readonly what: 'table' | 'length' | 'gone';
}

/**
 * Reads as `segments` does, and adds segments that do not match their table to `faults`. If a request fails, reads its
 * segments one by one; an unreadable segment counts as `gone`.
 */
export function checking(
  segments: SegmentStore,
  lengths: ReadonlyMap<number, number>,
  faults: Map<number, SegmentFault>,
): SegmentStore {
  const readOne = async (id: number) => {
    try {
      return (await segments.read([id]))[0];
    } catch (cause) {
      if (isUnreadable(cause)) return undefined;
      throw cause;
    }
  };
  return {
    load: (...args) => segments.load(...args),
    reserve: () => segments.reserve(),
    // Read whole segments in their present state.
    read: async (wanted) => {
      const ids = wanted.map(segmentOf);
      let found: (Uint8Array | undefined)[];
      try {
        found = await segments.read(ids);
      } catch (cause) {
        if (!isUnreadable(cause)) throw cause;
        found = [];
        for (const id of ids) found.push(await readOne(id));
      }
      for (const [at, segment] of ids.entries()) {
        const length = found[at]?.length;
        // A collection may have written the segment since the lengths were noted.
        const wanted = lengths.get(segment) ?? length;
        if (length === undefined) faults.set(segment, { segment, what: 'gone' });
        else if (length !== wanted) faults.set(segment, { segment, what: 'length' });
      }
      return found.map((bytes, at) => bytes && cutSegment(wanted[at] as SegmentRequest, bytes));
    },
    write: (batch) => segments.write(batch),
    history: (name) => segments.history(name),
    delete: (...args) => segments.delete(...args),
    close: () => segments.close(),
  };
}

function isUnreadable(cause: unknown): boolean {
  return kindOfError(cause) === 'unavailable/storage';
}
