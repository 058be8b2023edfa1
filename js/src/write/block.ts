/** What an ingest is given. */
import type { BlockFormat } from '../core/engine.js';

/** A block of rows, ready to be fed. */
export interface Block {
  /** A JSON array. */
  readonly text: string;
  readonly format: BlockFormat;
  readonly rows: number;
  /** Byte values, with the rows of the block that they belong to. */
  readonly values: readonly { row: number; bytes: Uint8Array }[];
}
