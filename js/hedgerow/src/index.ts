/** Hedgerow: an ordered key/value store for the browser. Importing it touches no global. */

import { checkStoreName, optionsOf } from './base/check-options.js';
import { part } from './base/dynamic-import.js';
import { runAbortable } from './base/run-abortable.js';
import { loadWords } from './core/indexes/index-entries.js';
import { loadCollector } from './engine/collect/collection-scheduler.js';
import { loadSums } from './engine/sums/sum-tree.js';
import { transacting } from './engine/transaction/on-demand-transaction-code.js';
import { loadIndexBuild } from './engine/write/background-index-builder.js';
import { loadWriter } from './engine/write/writer.js';
import { idb, loadRest } from './storage/idb/idb.js';
import { loadMemory } from './storage/memory.js';
import type { Storage } from './storage/segment-store.js';
import type { CloneOptions } from './store/clone-from-remote.js';
import { loadHealth, readParts, repairing, rescuing, verifying } from './store/on-demand-code.js';
import { loadTransports, storeParts } from './store/on-demand-store-code.js';
import type { OpenOptions } from './store/open.js';
import { Store } from './store/store.js';
import type { TableOptions } from './store/tables/open-tables.js';
import type { StoreWith } from './store/tables/table-handle-types.js';
import type { Tables } from './store/tables/types.js';
import type { BucketTransport } from './sync/link/bucket.js';
import type { BucketConnection } from './sync/link/bucket-connection.js';

export type { ByteFormat, ByteSource } from './base/byte-source.js';
export {
  type Conflict,
  type ErrorCode,
  type ErrorDetail,
  type ErrorKind,
  HedgerowError,
} from './base/errors.js';
export type { Persistence } from './base/origin-storage-estimate.js';
export type { KeyRange } from './base/range.js';
export type { IndexColumn, IndexDefinition } from './core/indexes/definition.js';
export type { EntryPosition, IndexRange, SecondaryKey } from './core/indexes/index-entries.js';
export type { IndexDefinitions } from './core/indexes/index-set.js';
export type { Scalar } from './core/indexes/scalar.js';
export type { SumDefinition, SumDefinitions } from './core/sum-tree-definition.js';
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
} from './core/sum-tree-types.js';
export type { Branch, BranchesOptions, BranchOptions } from './engine/branches/branches.js';
export type {
  MergeOptions,
  MergePreview,
  MergeResult,
  PreviewOptions,
  Resolution,
} from './engine/branches/merge.js';
export type { RevertResult } from './engine/branches/revert.js';
export type { CompactResult } from './engine/collect/garbage-collection-run.js';
export type { Change, DiffOptions } from './engine/read/decode-diff.js';
export type { ProofResult, RangeProofResult } from './engine/read/proof.js';
export type { IndexOrderOptions, OrderOptions } from './engine/read/rank-options.js';
export type { IndexScan, Rows, Scan } from './engine/read/scan.js';
export type { IndexScanOptions, ScanOptions } from './engine/read/scan-options.js';
export type { LevelStats, Stats } from './engine/read/store-stats.js';
export type { LostRange, RepairedRef, RepairOptions, RepairResult } from './engine/repair/types.js';
export type { SumTree } from './engine/sums/sum-tree.js';
export type { CommitOptions, CommitResult, TransactionOptions } from './engine/transaction/run.js';
export type { ValueUpdate } from './engine/transaction/single-row.js';
export type { Transaction } from './engine/transaction/transaction.js';
export type { Export, ExportOptions } from './engine/transfer/export.js';
export type {
  ImportOptions,
  ImportProgress,
  ImportResult,
  ImportSource,
} from './engine/transfer/import.js';
export type {
  ChunkFault,
  RefFaults,
  SegmentFault,
  Verification,
  VerifyOptions,
  VerifyProgress,
} from './engine/verify/verify-commit.js';
export type { WatchCallback, WatchOptions } from './engine/watch/watcher-types.js';
export type { IndexProgress } from './engine/write/background-index-builder.js';
export type { IngestResult, Progress } from './engine/write/ingest.js';
export type { Patch, PatchOperation, PatchOptions } from './engine/write/patch.js';
export type { PutManyOptions } from './engine/write/put-many.js';
export type { Source } from './engine/write/row-source.js';
export type { EditOptions } from './engine/write/single-edits.js';
export type { Writer, WriterOptions } from './engine/write/writer.js';
export { idb } from './storage/idb/idb.js';
export { memory } from './storage/memory.js';
export type {
  Durability,
  Encryption,
  Lifetime,
  SegmentPart,
  SegmentStore,
  Storage,
  StoreOptions,
} from './storage/segment-store.js';
export type { CloneOptions } from './store/clone-from-remote.js';
export { repairStore, verifyProof, verifyStore } from './store/on-demand-code.js';
export type { AdvancedOptions, OpenOptions } from './store/open.js';
export type { Snapshot } from './store/snapshot.js';
export type { Health, HealthListener, HealthState } from './store/storage-health-types.js';
export type { Store } from './store/store.js';
export type { StoreBackup } from './store/store-backup.js';
export type { StoreBranches } from './store/store-branches.js';
export type { StoreHealth } from './store/store-health.js';
export type { StoreHistory } from './store/store-history.js';

/**
 * Opens the store `name`; creates a missing one unless `advanced.mustExist` is set. Costs two reads of storage and the tables of
 * all segments: about 40 bytes for each stored chunk.
 */
export function open<const T extends Tables>(
  name: string,
  options: OpenOptions & TableOptions<T>,
): Promise<StoreWith<T>>;
export function open(name: string, options?: OpenOptions): Promise<Store>;
export async function open(
  name: string,
  options?: OpenOptions & { readonly tables?: unknown },
): Promise<Store> {
  // The code of tables comes with their definitions.
  try {
    const [table] = Object.values(options?.tables ?? {});
    if (table?.open) return table.open(name, options, Store.open);
  } catch {
    // `Store.open` refuses options that cannot be read.
  }
  return Store.open(name, options);
}

/**
 * Deletes the store `name` and all that it holds, also while it is open. Its handles, in this tab and others, are
 * closed, and their `onDeleted` is called; changes that they have not committed are lost. Rejects with `blocked` if a
 * suspended tab, another process or other code still has the database open after 2 seconds. A browser then deletes it
 * as soon as they close it.
 */
export async function destroy(
  name: string,
  options: { readonly storage?: Storage | undefined } = {},
): Promise<void> {
  checkStoreName(name);
  const { storage = idb() } = optionsOf('destroy', options, 'storage');
  return storage.destroy(name);
}

const IMPORT_NAMES = 'storage encryption durability sliceMs checkIndexes signal onProgress';

/**
 * Reads an export of `db.backup.export()` into the store `name`, which must be empty or missing. It becomes the same store,
 * with the same root. `source` is an export, a `Response`, a `Blob`, a stream or an iterable of bytes, or a function
 * that returns one of them from an offset on.
 *
 * Checks each chunk as it arrives, and all chunks again as they were stored, before the rows become visible. A fault
 * rejects, and the store stays empty. Another call continues an import that was cut off; until then the store is to
 * stay empty. If the store holds just this export already, the call stores no chunk, but reads and checks `source` to
 * its end.
 */
export const importStore: typeof import('./engine/transfer/import.js').runStoreImport = async (
  name,
  source,
  options = {},
) =>
  runAbortable('importStore', options, IMPORT_NAMES, async (wanted) => {
    const { importing } = await storeParts();
    return importing.runStoreImport(name, source, wanted);
  });

/** The store and the connection that a clone resolves to. */
export interface Clone<Db = Store> {
  readonly db: Db;
  readonly connection: BucketConnection;
}

/**
 * Opens the store `name`, connects it with a bucket, and pulls. Resolves to the store with the rows of the bucket, and
 * to the connection. Continues a clone that was cut off, and updates an earlier one. Rejects with `invalid-argument` if
 * the store has rows that are not of this bucket, and with the errors of `open` and `pull`. It then closes the store,
 * which keeps the rows that have arrived.
 */
export function clone<const T extends Tables>(
  name: string,
  transport: BucketTransport,
  options: CloneOptions & TableOptions<T>,
): Promise<Clone<StoreWith<T>>>;
export function clone(
  name: string,
  transport: BucketTransport,
  options?: CloneOptions,
): Promise<Clone>;
export async function clone(
  name: string,
  transport: BucketTransport,
  options?: CloneOptions,
): Promise<Clone> {
  return (await storeParts()).cloneStore(open, name, transport, options);
}

const platform = () => part(() => import('./base/missing-features.js'));
const laterTables = () => part(() => import('./store/tables/preload-table-code.js'));

/**
 * Loads the parts that otherwise load at their first call: compaction, proofs, verification, repair, statistics,
 * health, sum trees, transactions, branches, diffs, merges, sync, mutators, exports and imports, the building of
 * indexes, the commits of writers, parts of tables. Afterwards they need no network. Rejects with
 * `unavailable/not-loaded`. Import `hedgerow/full` instead where code cannot be loaded later, as in a service worker.
 */
export async function preload(): Promise<void> {
  const parts = [readParts, verifying, repairing, loadSums, rescuing, loadCollector];
  const others = [
    storeParts,
    loadTransports,
    transacting,
    platform,
    loadRest,
    loadHealth,
    loadIndexBuild,
    loadMemory,
    loadWords,
    loadWriter,
    async () => (await laterTables()).loadTableParts(),
  ];
  await Promise.all([...parts, ...others].map((load) => load()));
}

/**
 * Returns the features that Hedgerow lacks here, each with its remedy; an empty list where it works. Opens no store.
 */
export async function missingFeatures(): Promise<string[]> {
  return (await platform()).listMissingFeatures();
}
