import { hex } from '../../base/hex.js';
import type { IndexRange } from '../../core/indexes/index-entries.js';
import type { ReadContext } from '../read/context.js';
import { holdWith, type WaitOptions } from '../read/wait-for-index.js';
import type { IngestResult } from '../write/ingest.js';
import type { buildBulkResult } from '../write/put-many.js';
import { type TransactionCommit, type TransactionJob, Transactions } from './run.js';

/**
 * Deletes the rows that the entries in a range of an index name. It runs as a transaction that has read these entries,
 * so that a row which another writer changes in the meantime is deleted only if it is still in the range.
 */
export async function deleteEntries(
  from: ReadContext,
  range: IndexRange & WaitOptions,
  { signal, durability, over }: Pick<TransactionJob, 'signal' | 'durability' | 'over'>,
  // An argument, since an import would split the first files of a page into more files.
  toResult: typeof buildBulkResult,
): Promise<IngestResult> {
  const startMs = performance.now();
  const { host, branchHead } = from;
  const { release } = await holdWith(from, range, { wait: range.wait, signal });
  release();
  let made: TransactionCommit | undefined;
  const onCommit = (commit: TransactionCommit) => {
    made = commit;
  };
  const remove = new Transactions(host, branchHead).run((tx) => tx.deleteMany(range), {
    signal,
    durability,
    over,
    onCommit,
  });
  const { value: rows } = await remove;
  if (made !== undefined) return toResult(made.ingest, made, rows, startMs);
  const none = {
    rows,
    bytes: 0,
    chunks: 0,
    segments: 0,
    slices: 0,
    longestSliceMs: 0,
    storageMs: 0,
  };
  return { root: hex(branchHead.head.commitBytes), ...none, ms: performance.now() - startMs };
}
