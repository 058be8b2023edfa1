/** Options and results of repairs. */

import type { Durability } from '../../storage/segment-store.js';
import type { Pin } from '../verify/inspect.js';
import type { ChunkFault, Inspection, RefFaults, VerifyOptions } from '../verify/verify.js';

/** Tells other tabs where a ref is. */
export type AnnounceRepair = (ref: string, generation: number) => void;

/** Keys that a repair gave up. */
export type LostRange = ChunkFault['range'];

/** Options of a repair. */
export interface RepairOptions extends VerifyOptions {
  /**
   * If no commit verifies wholly, delete the key ranges that the damaged chunks cover, and keep the
   * rest. Without this option the repair then fails and changes nothing.
   */
  readonly salvage?: boolean | undefined;
}

/**
 * Fetches chunks that an inspection has found damaged, and stores them. Resolves to how many there were: a new inspection
 * finds them.
 */
export type ChunkMender = (
  inspection: Inspection,
  faults: readonly ChunkFault[],
) => Promise<number>;

/** The outcome of a repair for another ref than that of the main branch. */
export interface RepairedRef extends RefFaults {
  /**
   * `back`: a branch of the app went back to its newest sound commit; `salvaged`: it keeps what could be read. `forgotten`: what
   * a link keeps of its remote was deleted, and the link begins again; or the fork of a branch, whose next merge finds nothing
   * in common.
   */
  readonly done: 'back' | 'salvaged' | 'forgotten';
  /** As in `RepairResult`; 0 for what was forgotten. */
  readonly commitsDropped: number;
  readonly rowsLost: number;
}

/** The result of a repair. */
export interface RepairResult {
  /** The root of the store now, in hexadecimal. */
  readonly root: string;
  /** Commits that were given up: 0 for a sound store, and if `lost` lists all losses. */
  readonly commitsDropped: number;
  /** What was wrong with the newest commit. */
  readonly faults: readonly ChunkFault[];
  /** The key ranges that a salvage deleted, in order, and the rows that were in them. */
  readonly lost: readonly LostRange[];
  readonly rowsLost: number;
  /** Other refs that had faults, and what became of them. */
  readonly others: readonly RepairedRef[];
  /** Damaged chunks that came from the remote; undefined for a repair without one. */
  readonly fetched?: number | undefined;
}

/** A repair whose options were checked. */
export interface RepairJob extends RepairOptions {
  readonly sliceMs: number;
  readonly durability: Durability;
  readonly pin: Pin;
  /** Tells other tabs of each ref that was moved, and its generation. */
  readonly announce: AnnounceRepair;
  /** Chunks that can be fetched are not given up. */
  readonly mend?: ChunkMender | undefined;
}
