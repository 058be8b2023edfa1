/** Hedgerow: a local database for web apps. Importing it touches no global. */

export {
  type Conflict,
  type ErrorCode,
  type ErrorDetail,
  HedgerowError,
} from './base/errors.js';
export type { KeyRange } from './base/range.js';
export type { IndexDefinitions } from './core/indexes/index-set.js';
export { wordsOf } from './core/indexes/words.js';
export type { Branch } from './engine/branches/branches.js';
export type { MergePreview, MergeResult } from './engine/branches/merge.js';
export type { Change } from './engine/read/decode-diff.js';
export type { Scan } from './engine/read/scan.js';
export type { Stats } from './engine/read/store-stats.js';
export type { RepairResult } from './engine/repair/types.js';
export type { Transaction } from './engine/transaction/transaction.js';
export type { Export } from './engine/transfer/export.js';
export type { Verification } from './engine/verify/verify-commit.js';
export type { IndexProgress } from './engine/write/background-index-builder.js';
export type { Progress, WriteResult } from './engine/write/ingest.js';
export type { Patch, PatchOperation } from './engine/write/patch.js';
export { live, liveCount, liveRow } from './live/index.js';
export type {
  Live,
  LiveCount,
  LiveCountState,
  LiveQuery,
  LiveRow,
  LiveRowState,
  LiveState,
} from './live/types.js';
export { idb } from './storage/idb/idb.js';
export { memory } from './storage/memory.js';
export type { Durability, Storage } from './storage/segment-store.js';
export { decodeKey, encodeKey, keyRange } from './store/keys/index.js';
export { repairStore, verifyStore } from './store/on-demand-code.js';
export type { OpenOptions } from './store/open.js';
export type { Snapshot } from './store/snapshot.js';
export type { Health } from './store/storage-health-types.js';
export type { Store } from './store/store.js';
export {
  clone,
  destroy,
  importStore,
  missingFeatures,
  open,
  preload,
} from './store/store-functions.js';
export { rowType, table } from './store/tables/define.js';
export type { MigrationProgress } from './store/tables/migrate/migrator.js';
export type { RowChange } from './store/tables/row-changes.js';
export type {
  Query,
  SnapshotWith,
  StoreWith,
  TableHandle,
  TransactionWith,
} from './store/tables/table-handle-types.js';
export type { InputOf, KeyOf, RowOf, Table } from './store/tables/types.js';
export type { Codec } from './store/tables/values/app-codec-types.js';
export { file, StoredFile } from './store/tables/values/stored-file.js';
