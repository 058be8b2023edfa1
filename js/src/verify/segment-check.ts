/** Reads segments, and notes which of them are not as their tables say. */
import { HedgerowError } from '../base/errors.js';
import type { SegmentStore } from '../storage/segment-store.js';

/** A stored record that is not what it should be. What that costs, the faults of chunks tell. */
export interface SegmentFault {
  readonly segment: number;
  /**
   * `table`: its table is malformed, so that nobody knows what it holds. `length`: it is longer
   * or shorter than its table says. `gone`: it is not there, or cannot be read.
   */
  readonly what: 'table' | 'length' | 'gone';
}

/** The length that a table, which is well-formed, says of its segment. */
export function segmentLength(tableBytes: Uint8Array): number {
  const { buffer, byteOffset, length } = tableBytes;
  return new DataView(buffer, byteOffset, length).getUint32(length - 4, true);
}

/**
 * Reads as `segments` does, and notes which of them are not as they should be. One that cannot
 * be read counts as gone: others in the same request can be.
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
    read: async (ids) => {
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
        // Of one that a collection has written meanwhile, in place of others, nothing is noted.
        const wanted = lengths.get(segment) ?? length;
        if (length === undefined) faults.set(segment, { segment, what: 'gone' });
        else if (length !== wanted) faults.set(segment, { segment, what: 'length' });
      }
      return found;
    },
    write: (batch) => segments.write(batch),
    history: (name) => segments.history(name),
    delete: (...args) => segments.delete(...args),
    close: () => segments.close(),
  };
}

function isUnreadable(cause: unknown): boolean {
  return cause instanceof HedgerowError && cause.code === 'storage';
}
