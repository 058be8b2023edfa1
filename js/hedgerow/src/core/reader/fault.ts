/** The reasons for which a read cannot go on. They are thrown, and end in a reply. */
import * as Status from '../../base/abi/status.js';

/**
 * A part that a read needs from storage, as `Status.need` says: the id of a segment, and where the part begins and
 * ends; 0 and 0 for the whole. The end of a part at a remote is negative.
 */
export type Want = readonly [segment: number, from: number, to: number];

/** Thrown by a read of a chunk that is not in memory. */
export class Need {
  readonly wants: readonly Want[];

  constructor(wants: readonly Want[]) {
    this.wants = wants;
  }
}

/** The malformed part of a chunk or a table. */
export interface MalformedPart {
  /** A number of `Field`; -1 for a chunk that does not have its hash. */
  readonly field: number;
  /** Bytes from the start of the chunk or table. */
  readonly offset: number;
  readonly expected: number;
  readonly got: number;
}

const WRONG_HASH: MalformedPart = { field: -1, offset: 0, expected: 0, got: 0 };

/** Thrown for a chunk that is missing, damaged, or of a newer version. */
export class Fault {
  readonly status: number;
  readonly hash: Uint8Array;
  readonly malformed: MalformedPart;

  constructor(status: number, hash: Uint8Array, malformed: MalformedPart = WRONG_HASH) {
    this.status = status;
    this.hash = hash;
    this.malformed = malformed;
  }
}

/** Thrown by checks of bytes, which do not know their hash. */
export class MalformedBytes {
  readonly malformed: MalformedPart;

  constructor(field: number, offset: number, expected: number, got: number) {
    this.malformed = { field, offset, expected, got };
  }
}

/** Runs a check of the chunk with this hash. Throws a `Fault` if the check fails. */
export function checkChunk<T>(hash: Uint8Array, check: () => T): T {
  try {
    return check();
  } catch (cause) {
    if (!(cause instanceof MalformedBytes)) throw cause;
    throw new Fault(Status.corruptChunk, hash, cause.malformed);
  }
}
