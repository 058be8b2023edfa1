/** Blocks of rows for an ingest. */
import type { FedBlock } from '../../core/calls/ingest-calls.js';

/** A block of rows to feed to an ingest. */
export interface Block extends FedBlock {
  readonly rows: number;
}
