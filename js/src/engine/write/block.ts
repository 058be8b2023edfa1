/** Blocks of rows for an ingest. */
import type { FedBlock } from '../../core/calls/ingest-calls.js';

/** A block of rows that an ingest can be fed. */
export interface Block extends FedBlock {
  readonly rows: number;
}
