/** What an ingest is given. */
import type { FedBlock } from '../core/calls/ingest.js';

/** A block of rows, ready to be fed. */
export interface Block extends FedBlock {
  readonly rows: number;
}
