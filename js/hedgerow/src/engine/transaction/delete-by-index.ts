import type { IndexRange } from '../../core/indexes/index-range.js';
import type { ReadContext } from '../read/context.js';
import { holdWith, type WaitOptions } from '../read/wait-for-index.js';
import type { WriteResult } from '../write/ingest.js';
import { type TransactionJob, Transactions } from './run.js';

/**
 * Deletes the rows that the entries in a range of an index name. It runs as a transaction that has read these entries,
 * so that a row which another writer changes in the meantime is deleted only if it is still in the range.
 */
export async function deleteEntries(
  from: ReadContext,
  range: IndexRange & WaitOptions,
  { signal, durability, over }: Pick<TransactionJob, 'signal' | 'durability' | 'over'>,
): Promise<WriteResult> {
  const { host, branchHead } = from;
  const { release } = await holdWith(from, range, { wait: range.wait, signal });
  release();
  const job = { signal, durability, over };
  const deletion = await new Transactions(host, branchHead).run((tx) => tx.deleteMany(range), job);
  return { root: deletion.after, rows: deletion.value, stats: deletion.stats };
}
