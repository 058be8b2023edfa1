/** The functions that apps call without a store. */

import { checkStoreName, type OptionsOf, optionsOf } from '../base/check-options.js';
import { part } from '../base/dynamic-import.js';
import { loadLocalLocks } from '../base/late-locks.js';
import { runAbortable } from '../base/run-abortable.js';
import { loadWords } from '../core/indexes/words-code.js';
import { loadCore } from '../core/load-core.js';
import { loadIndexWalks } from '../core/reader/index-walk-code.js';
import { loadCollector } from '../engine/collect/collection-scheduler.js';
import { loadSums } from '../engine/sums/sum-tree.js';
import { transacting } from '../engine/transaction/on-demand-transaction-code.js';
import { IMPORT_OPTIONS } from '../engine/transfer/import-options.js';
import { loadWatchers } from '../engine/watch/branch-watches.js';
import { loadIndexBuild } from '../engine/write/background-index-builder.js';
import { loadWrites } from '../engine/write/on-demand-write-code.js';
import { loadWriter } from '../engine/write/writer.js';
import { idb, loadRest } from '../storage/idb/idb.js';
import { loadMemory } from '../storage/memory.js';
import { storageCheck } from '../storage/storage-checks.js';
import type { BucketTransport } from '../sync/link/bucket.js';
import type { BucketConnection } from '../sync/link/bucket-connection.js';
import type { CloneOptions } from './clone-from-remote.js';
import { loadHealth, readParts, repairing, rescuing, verifying } from './on-demand-code.js';
import { loadTransports, storeParts } from './on-demand-store-code.js';
import type { OpenOptions } from './open.js';
import { Store } from './store.js';
import type { TableOptions } from './tables/open-tables.js';
import type { StoreWith } from './tables/table-handle-types.js';
import type { Tables } from './tables/types.js';

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

const DESTROY_OPTIONS = { storage: storageCheck };

/**
 * Deletes the store `name` and all that it holds, also while it is open. Its handles, in this tab and others, are
 * closed, and their `onDeleted` is called; changes that they have not committed are lost. Rejects with `blocked` if a
 * suspended tab, another process or other code still has the database open after 2 seconds. A browser then deletes it
 * as soon as they close it.
 */
export async function destroy(
  name: string,
  options: OptionsOf<typeof DESTROY_OPTIONS> = {},
): Promise<void> {
  checkStoreName(name);
  const { storage = idb() } = optionsOf('destroy', options, DESTROY_OPTIONS);
  return storage.destroy(name);
}

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
export const importStore: typeof import('../engine/transfer/import.js').runStoreImport = async (
  name,
  source,
  options = {},
) =>
  runAbortable('importStore', options, IMPORT_OPTIONS, async (wanted) => {
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

const platform = () => part(() => import('../base/missing-features.js'));
const laterTables = () => part(() => import('./tables/preload-table-code.js'));

/**
 * Loads the parts that otherwise load at their first call: the core, writes, watches, compaction, proofs, verification, repair, statistics,
 * health, sum trees, transactions, branches, diffs, merges, sync, mutators, exports and imports, the building of
 * indexes, the commits of writers, parts of tables. Afterwards they need no network. Rejects with
 * `unavailable/not-loaded`. Import `hedgerow/full` instead where code cannot be loaded later, as in a service worker.
 */
export async function preload(): Promise<void> {
  const parts = [readParts, verifying, repairing, loadSums, rescuing, loadCollector];
  const others = [
    async () => (await loadCore()).instantiate(),
    loadIndexWalks,
    loadWrites,
    loadWatchers,
    storeParts,
    loadTransports,
    transacting,
    platform,
    loadRest,
    loadHealth,
    loadIndexBuild,
    loadMemory,
    loadLocalLocks,
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
