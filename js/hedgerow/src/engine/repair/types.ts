/** Options and results of repairs. */

import type { Durability } from '../../storage/segment-store.js';
import type { ChunkFault, Inspection, RefFaults } from '../verify/verify-commit.js';
import type { Pin } from '../verify/verify-store.js';
import type { RepairOptions } from './repair-options.js';

/** Announces the place of a ref to other tabs. */
export type AnnounceRepair = (ref: string, generation: number) => void;

/** A range of keys that a repair gave up. */
export type LostRange = ChunkFault['range'];

/**
 * Fetches chunks that an inspection has found damaged, and stores them. Resolves to their number: a new inspection
 * finds them.
 */
export type ChunkMender = (
  inspection: Inspection,
  faults: readonly ChunkFault[],
) => Promise<number>;

/** The outcome of a repair for a ref other than the main branch. */
export interface RepairedRef extends RefFaults {
  /**
   * `back`: a branch of the app went back to its newest sound commit. `salvaged`: it keeps its readable rows.
   * `forgotten`: a connection's copy of its remote was deleted, and the connection begins again; or a branch lost its
   * fork, and its next merge finds no common history.
   */
  readonly done: 'back' | 'salvaged' | 'forgotten';
  /** As in `RepairResult`; 0 for a forgotten ref. */
  readonly commitsDropped: number;
  readonly rowsLost: number;
}

/** The result of a repair. */
export interface RepairResult {
  /** The root of the store now, in hexadecimal. */
  readonly root: string;
  /** The number of commits that were given up: 0 for a sound store, and if `lost` lists all losses. */
  readonly commitsDropped: number;
  /** The faults of the newest commit. */
  readonly faults: readonly ChunkFault[];
  /** The key ranges that a salvage deleted, in order, and the number of rows that were in them. */
  readonly lost: readonly LostRange[];
  readonly rowsLost: number;
  /** Other refs that had faults, and their outcomes. */
  readonly others: readonly RepairedRef[];
  /** The number of damaged chunks that came from the remote; `undefined` for a repair without a remote. */
  readonly fetched?: number | undefined;
}

/** A repair whose options were checked. */
export interface RepairJob extends RepairOptions {
  readonly sliceMs: number;
  readonly durability: Durability;
  readonly pin: Pin;
  /** Announces each moved ref and its generation to other tabs. */
  readonly announce: AnnounceRepair;
  /** Fetches chunks, which the repair then need not give up. */
  readonly mend?: ChunkMender | undefined;
}
