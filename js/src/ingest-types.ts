/** What an ingest is given, and what it tells. */
import type { BlockFormat } from './engine.js';
import type { SliceTimes } from './host.js';

/** A block of rows, ready to be fed. */
export interface Block {
  /** A JSON array. */
  readonly text: string;
  readonly format: BlockFormat;
  readonly rows: number;
  /** Byte values, with the rows of the block that they belong to. */
  readonly values: readonly { row: number; bytes: Uint8Array }[];
}

/** How far an ingest has come. */
export interface Progress {
  /** Rows taken from the source. */
  readonly rows: number;
  /** Bytes of those rows as they went in: JSON text and byte values. */
  readonly bytes: number;
  /** Rows whose segments storage has, though no reader sees them before the end. */
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
