/** The progress and the result of a write of many rows. */

/** The progress of an ingest. */
export interface Progress {
  /** Rows taken from the source. */
  readonly rows: number;
  /** Bytes of those rows as fed: JSON text and byte values. */
  readonly bytes: number;
  /**
   * Rows whose segments are stored. Readers see them only after the commit. The number grows while ascending keys
   * stream into an empty store, also in a patch, and after its `clear`. Otherwise rows are first gathered and sorted:
   * the number is 0 until they are merged, and all rows at the end.
   */
  readonly durableRows: number;
  /** The fraction of the source that was taken, from 0 to 1; absent when its length is unknown. */
  readonly fraction?: number;
}

/** The figures of a write. */
export interface WriteStats {
  /** Bytes of its rows as fed: JSON text and byte values. */
  readonly bytes: number;
  /** Chunks and segments that it made. */
  readonly chunks: number;
  readonly segments: number;
  /** From the call to the commit. */
  readonly ms: number;
  /** The number of slices in which it held the thread, and the time of the longest. */
  readonly slices: number;
  readonly longestSliceMs: number;
  /** Milliseconds of waiting for storage. */
  readonly storageMs: number;
}

/** The result of a write of many rows. */
export interface WriteResult {
  /** The new root of the store, in hexadecimal. */
  readonly root: string;
  /** The number of rows that were written, or deleted. */
  readonly rows: number;
  readonly stats: WriteStats;
}
