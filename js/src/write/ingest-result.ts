/** What callers are told of an ingest, on its way and at its end. */
import type { SliceTimes } from '../core/host.js';

/** How far an ingest has come. */
export interface Progress {
  /** Rows taken from the source. */
  readonly rows: number;
  /** Bytes of those rows as they went in: JSON text and byte values. */
  readonly bytes: number;
  /**
   * Rows whose segments storage has, though no reader sees them before the end. Of keys that ascend
   * into an empty store it grows as they come. Otherwise, and for every patch, rows are gathered and
   * sorted first: it stays 0 until they are merged, and is all of them at the end.
   */
  readonly durableRows: number;
  /** How much of the source was taken, from 0 to 1, when its length is known. */
  readonly fraction?: number;
}

/** What an ingest came to. */
export interface IngestResult extends SliceTimes {
  /** The new root of the store, in hexadecimal. */
  readonly root: string;
  readonly rows: number;
  readonly bytes: number;
  readonly chunks: number;
  readonly segments: number;
  readonly ms: number;
}
