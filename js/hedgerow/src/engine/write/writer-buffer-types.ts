/** The buffer of a writer, for the code that commits it. */
import type { Host } from '../../core/operation-host.js';
import type { Durability } from '../../storage/segment-store.js';
import type { BranchHead } from '../history/branch-head.js';
import type { Bulk } from '../history/bulk-change-order.js';

/** The size of a block, in the same unit. A flush begins once this much is buffered. */
export const BLOCK_UNITS = 1 << 18;

/** A row that waits for its commit. */
export interface BufferedRow {
  readonly units: number;
  /** The key as JSON text. */
  readonly key: string;
  /** Absent for a delete. */
  readonly value?: string | Uint8Array;
}

/** The target and the settings of a writer. */
export interface WriterContext {
  readonly host: Host;
  readonly branchHead: BranchHead;
  readonly durability: Durability;
  readonly commitEvery: number;
  readonly bulk: Bulk;
  readonly startMs: number;
}

/** The buffered rows of a writer. */
export interface WriterBuffer {
  readonly context: WriterContext;
  rows: BufferedRow[];
  units: number;
  /** Flush all rows, not only full blocks. */
  isAll: boolean;
}
