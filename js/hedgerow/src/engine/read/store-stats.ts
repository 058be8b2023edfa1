/** The contents of an open store, and the shape of its tree. */

import { levelWords } from '../../base/abi/size.js';
import { hex } from '../../base/hex.js';
import { type Persistence, persistence } from '../../base/origin-storage-estimate.js';
import { cacheStats, memoryBytes } from '../../core/calls/cache-stats.js';
import { verificationCalls } from '../../core/calls/verification-calls.js';
import { countReachableBytes } from '../../core/count-reachable-bytes.js';
import type { Host } from '../../core/operation-host.js';
import type { BranchHead } from '../history/branch-head.js';

/** One level of a tree. */
export interface LevelStats {
  /** 0 for leaves. */
  readonly level: number;
  readonly nodes: number;
  /** All nodes of the level, unpacked. */
  readonly bytes: number;
  /**
   * All nodes of the level, in their stored form: leaves are packed. Nodes at the remote of a lazy clone count as 0.
   */
  readonly storedBytes: number;
  /** The smallest node, unpacked. */
  readonly minBytes: number;
  /** The largest node, unpacked. */
  readonly maxBytes: number;
}

/** The contents of a store, and the platform's figures for the storage of the whole origin. */
export interface Stats extends Persistence {
  readonly root: string;
  readonly rows: number;
  /** The levels of the tree of rows, from the top down. */
  readonly levels: readonly LevelStats[];
  /** Stored segments and chunks, even if no commit reaches them any more. */
  readonly segments: number;
  readonly chunks: number;
  /** The stored bytes of these chunks: leaves and large values are packed. */
  readonly storedBytes: number;
  /** The number of small segments. */
  readonly smallSegments: number;
  /** The part of `storedBytes` that the root reaches: its `levels`, commit, indexes, sum trees and large values. */
  readonly liveBytes: number;
  /**
   * The handle that compacts the store: this one, another one (in this tab or elsewhere), or `'none'`, without Web
   * Locks: see `idb({ exclusive })`.
   */
  readonly compactor: 'this' | 'other' | 'none';
  /**
   * The error of the last compaction by this handle, if it failed. After `corrupt-chunk` and `missing-chunk` no
   * compaction frees space until `db.health.repair()`, since it is unknown which chunks the lost one reaches.
   */
  readonly compactFailure?: unknown;
  /** The number of reads of chunks that found theirs in memory, and of reads that waited for storage. */
  readonly cacheHits: number;
  readonly cacheMisses: number;
  /** Bytes of segments and chunks in memory, packed and unpacked, and all linear memory. */
  readonly cachedBytes: number;
  readonly memoryBytes: number;
  /**
   * Whether a strict write waits for the disk; `undefined` where the storage does not know. Firefox before version 126
   * treats a strict write as a relaxed one.
   */
  readonly honoursStrict: boolean | undefined;
}

/** See `Store.stats`. */
export async function statsOf(
  host: Host,
  branchHead: BranchHead,
  failure: unknown,
): Promise<Stats> {
  const { engine } = host;
  const held = await branchHead.holdHead();
  const liveBytes = await countReachableBytes(host, held.head.commitBytes).finally(held.release);
  const { head, release } = await branchHead.holdHead();
  const { rows } = head;
  const root = hex(head.commitBytes);
  let numbers: number[];
  try {
    const checks = await verificationCalls(host);
    numbers = await host.read(checks.census(head.view), () => engine.numbers(), checks);
  } finally {
    release();
  }
  const count = numbers.length / levelWords;
  const levels = Array.from({ length: count }, (_, index): LevelStats => {
    const [nodes = 0, bytes = 0, storedBytes = 0, minBytes = 0, maxBytes = 0] = numbers.slice(
      index * levelWords,
      (index + 1) * levelWords,
    );
    return { level: count - 1 - index, nodes, bytes, storedBytes, minBytes, maxBytes };
  });
  const cache = { ...cacheStats(engine), memoryBytes: memoryBytes(engine) };
  if (failure !== undefined) Object.assign(cache, { compactFailure: failure });
  const { honoursStrict } = host.segments;
  const { isCollector, isCollected } = branchHead.pins;
  const who = isCollector ? 'this' : isCollected ? 'other' : 'none';
  const shape = { root, rows, levels, liveBytes };
  return { ...shape, ...cache, compactor: who, honoursStrict, ...(await persistence()) };
}
