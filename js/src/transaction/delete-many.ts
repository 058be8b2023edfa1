/** Bulk deletes: of listed keys, of a range of keys, and of the rows that entries of an index name. */

import { deletedRange, isRange, type KeyRange } from '../base/range.js';
import { hex } from '../core/engine.js';
import type { IndexRange } from '../indexes/columns.js';
import { isOfIndex } from '../indexes/index-set.js';
import type { ReadContext } from '../read/context.js';
import { holdWith, type WaitOptions } from '../read/holder.js';
import type { IngestResult } from '../write/ingest.js';
import { deleteRange, type Job, putMany, resultOf } from '../write/put-many.js';
import type { Source } from '../write/source.js';
import type { Made } from './run.js';
import { transacting } from './transacting.js';

/** What is deleted. */
export type Deletes = Source<string> | KeyRange | (IndexRange & Pick<WaitOptions, 'wait'>);

type Options = Pick<Job<string>, 'signal' | 'durability'>;

/** Deletes in one commit. */
export async function deleteMany(
  from: ReadContext,
  deletes: Deletes,
  options: Options,
): Promise<IngestResult> {
  const { host, branchHead } = from;
  if (!isRange(deletes)) {
    return putMany(host, branchHead, deletes as Source<string>, { ...options, deletes: true });
  }
  const range = deletedRange('deleteMany', deletes as KeyRange | IndexRange);
  return isOfIndex(range)
    ? deleteEntries(from, range, options)
    : deleteRange(host, branchHead, range, options);
}

/**
 * A transaction: which rows the entries name is what it has read, so that a row which another
 * writer changes meanwhile goes only if it is still in the range.
 */
async function deleteEntries(
  from: ReadContext,
  range: IndexRange & WaitOptions,
  { signal, durability }: Options,
): Promise<IngestResult> {
  const startMs = performance.now();
  const { host, branchHead } = from;
  const { release } = await holdWith(from, range, { wait: range.wait, signal });
  release();
  let made: Made | undefined;
  const onCommit = (commit: Made) => {
    made = commit;
  };
  const { Transactions } = await transacting();
  const rows = await new Transactions(host, branchHead).run((tx) => tx.deleteMany(range), {
    signal,
    durability,
    onCommit,
  });
  if (made !== undefined) return resultOf(made.ingest, made, rows, startMs);
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
