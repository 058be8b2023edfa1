/** Bulk deletes: of listed keys, of a range of keys, and of the rows that entries of an index name. */

import { deletedRange, isRange, type KeyRange } from '../../base/range.js';
import type { IndexRange } from '../../core/indexes/index-range.js';
import { isOfIndex } from '../../core/indexes/index-set.js';
import type { ReadContext } from '../read/context.js';
import type { WaitOptions } from '../read/wait-for-index.js';
import { deleteRange, putMany } from '../write/bulk-change.js';
import type { BulkJob } from '../write/bulk-options.js';
import { inOrder } from '../write/call-order.js';
import type { WriteResult } from '../write/ingest.js';
import type { Source } from '../write/source-kind.js';
import { transacting } from './on-demand-transaction-code.js';

/** The rows to delete: keys, a range of keys, or a range of an index. */
export type Deletes = Source<string> | KeyRange | (IndexRange & Pick<WaitOptions, 'wait'>);

type Options = Pick<BulkJob<string>, 'signal' | 'durability'>;

/** Deletes in one commit. */
export async function deleteMany(
  from: ReadContext,
  deletes: Deletes,
  options: Options,
): Promise<WriteResult> {
  const { host, branchHead } = from;
  if (!isRange(deletes)) {
    return putMany(host, branchHead, deletes as Source<string>, { ...options, deletes: true });
  }
  const range = deletedRange('deleteMany', deletes as KeyRange | IndexRange);
  if (!isOfIndex(range)) return deleteRange(host, branchHead, range, options);
  const { before, over, end } = inOrder(from, true);
  try {
    await before;
    return await (await transacting()).deleteEntries(from, range, { ...options, over });
  } finally {
    end();
  }
}
