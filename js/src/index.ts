/** Hedgerow: an ordered key/value store for the browser. Importing it touches no global. */

import type { OpenOptions } from './opening.js';
import type { Storage } from './segment-store.js';
import { idb } from './segment-stores/idb.js';
import { Store } from './store.js';

export type { Branch, BranchOptions } from './branches.js';
export type { ByteFormat, ByteSource } from './bytes.js';
export type { Change, DiffOptions } from './diff.js';
export { type ErrorCode, HedgerowError } from './errors.js';
export type { IndexProgress } from './indexes/builder.js';
export type { IndexDefinition } from './indexes/definition.js';
export type { IndexDefinitions } from './indexes/index-set.js';
export type { IndexRange, Scalar, SecondaryKey } from './indexes/secondary.js';
export type { IngestResult, Progress } from './ingest.js';
export { repair, verify, verifyProof } from './later.js';
export type { Conflict, MergeOptions, MergeResult } from './merge.js';
export type { OpenOptions } from './opening.js';
export type { Patch, PatchOperation, PatchOptions } from './patch.js';
export type { Proved, ProvedRange } from './proof.js';
export type { PutManyOptions } from './put-many.js';
export type { KeyRange } from './range.js';
export type { LostRange, RepairOptions, RepairResult } from './repair.js';
export type { IndexScan, IndexScanOptions, Rows, Scan, ScanOptions } from './scan.js';
export type { Durability, SegmentStore, Storage, StoreOptions } from './segment-store.js';
export { idb } from './segment-stores/idb.js';
export { memory } from './segment-stores/memory.js';
export type { Snapshot } from './snapshot.js';
export type { Source } from './source.js';
export type { LevelStats, Stats } from './stats.js';
export type { Store } from './store.js';
export type { SumTree } from './sum-tree.js';
export type { SumDefinition, SumDefinitions } from './sums/definition.js';
export type {
  SumChange,
  SumChangeOptions,
  SumItem,
  SumKey,
  SumLeaf,
  SumPutOptions,
  SumResult,
  SumRoot,
  SumScanOptions,
} from './sums/types.js';
export type { TransactionOptions } from './transaction/run.js';
export type { Transaction } from './transaction/transaction.js';
export type {
  ChunkFault,
  SegmentFault,
  Verification,
  VerifyOptions,
  VerifyProgress,
} from './verify.js';
export type { WatchCallback, WatchOptions } from './watch/watcher.js';
export type { Writer, WriterOptions } from './writer.js';

/**
 * Opens the store `name`, creating it when there is none, unless told not to. Costs two reads of storage
 * and the tables of all segments, about 40 bytes for each stored chunk.
 */
export function open(name: string, options?: OpenOptions): Promise<Store> {
  return Store.open(name, options);
}

/** Deletes the store `name` and all that it holds. Rejects with `blocked` while it is in use. */
export function destroy(
  name: string,
  options: { readonly storage?: Storage | undefined } = {},
): Promise<void> {
  return (options.storage ?? idb()).destroy(name);
}
