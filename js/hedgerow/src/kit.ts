/**
 * `hedgerow/kit`: internals of the store for the packages `@hedgerow/...`, which have the same version. Apps do not
 * import it: its names change without notice.
 */

export { checkSignal, ending, until } from './base/abort-signal.js';
export { sameBytes, toUint8Array } from './base/bytes.js';
export { notify, report } from './base/call-callback-safely.js';
export {
  anyNumber,
  anything,
  checkHas,
  checkNumber,
  checkPlain,
  durabilityCheck,
  flag,
  fn,
  type MandatoryCheck,
  mandatory,
  type OptionCheck,
  type OptionsOf,
  optionsOf,
  signalCheck,
  text,
} from './base/check-options.js';
export { part } from './base/dynamic-import.js';
export { HedgerowError, isRefusal, kindOfError } from './base/errors.js';
export { hex, unhex } from './base/hex.js';
export { onRecovery } from './base/internal-symbols.js';
export { isBuffer, isByteArray } from './base/is-byte-array.js';
export { memberAt, parsePointer } from './base/json-pointer.js';
export { checkKey, listOf, utf8Length } from './base/key.js';
export { MAX_HISTORY, MAX_KEY_BYTES, MAX_OBJECT_BYTES, SQL_FORMAT } from './base/limits.js';
export { localLocks } from './base/local-locks.js';
export { type Locks, uniqueName } from './base/locks.js';
export { builtin } from './base/node-builtin.js';
export { buildKeyRange, isInRange } from './base/range.js';
export { readSegmentLength } from './base/read-segment-table.js';
export { EMPTY_ROOT, parseRoot } from './base/root-hash.js';
export {
  hasCalls,
  isPlain,
  isRevoked,
  kindOf,
  memberOf,
  shownAs,
} from './base/runtime-type-checks.js';
export { sameValue } from './base/same-value.js';
export { Stream, TABLE_ENTRY_BYTES, TABLE_HEADER_BYTES } from './base/segment-table.js';
export { turn } from './base/slice-queue.js';
export { Slicer } from './base/slicer.js';
export { later, within } from './base/timeout.js';
export { chunkFrom } from './base/unpack-chunk.js';
export { type IndexDefinition, indexOf } from './core/indexes/definition.js';
export type { IndexRange } from './core/indexes/index-range.js';
export { after, encodeScalar, type Scalar, Tag } from './core/indexes/scalar.js';
export type { Host } from './core/operation-host.js';
export { REMOTE_BRANCHES, refOfBranch } from './engine/history/branch-name.js';
export { BRANCH_REF, FORK_REF, REF } from './engine/history/known-segments-and-refs.js';
export type { ScanOptions } from './engine/read/scan-options.js';
export type { ImportProgress } from './engine/transfer/import-options.js';
export type { ChunkFault } from './engine/verify/verify-commit.js';
export type { VerifyOptions } from './engine/verify/verify-options.js';
export type { BranchWatches } from './engine/watch/branch-watches.js';
export { databaseName } from './storage/idb/database-name.js';
export type {
  Fence,
  Ref,
  RefDrop,
  RefMove,
  SegmentPart,
  SegmentRecord,
  SegmentRequest,
  SegmentStore,
  Since,
  StoreContents,
  TableRecord,
  WriteBatch,
} from './storage/segment-store.js';
export { prefixOf } from './storage/tabs/pins.js';
export type { Reader } from './store/reader.js';
export { loadStructured } from './store/tables/on-demand-table-code.js';
export type { Spec, TableIndex } from './store/tables/spec.js';
export type { StoreTable } from './store/tables/store-table.js';
export type { TableHandle } from './store/tables/table-handle-types.js';
export type { TxTable } from './store/tables/tx-table.js';
export { Leases } from './sync/link/tab-leases.js';
export type { FetchFunction } from './sync/remote/adapters/http-exchange.js';
export { checkedRemote } from './sync/remote/checked-remote.js';
export type { RemoteEncryption } from './sync/remote/format/cipher-suite.js';
export { hashedName } from './sync/remote/hashed-name.js';
export { checkPrefix, headName, maxBytesOf, type ParsedName } from './sync/remote/object-names.js';
export type { ByteRange, ListPrefix, RemoteOptions, Swap } from './sync/remote/remote.js';
export { goneFault, remoteFault } from './sync/remote/remote-faults.js';
