/** Bulk deletes: of listed keys, of a range of keys, and of the rows that entries of an index name. */
import { hex } from './engine.js';
import { isOfIndex } from './indexes/index-set.js';
import { holdWith, type WaitOptions } from './indexes/ready.js';
import type { IndexRange } from './indexes/secondary.js';
import type { IngestResult } from './ingest.js';
import { deleteRange, type Job, putMany, resultOf } from './put-many.js';
import { deletedRange, isRange, type KeyRange } from './range.js';
import type { Source } from './source.js';
import type { Standpoint } from './standpoint.js';
import type { Made } from './transaction/run.js';
import { Transactions } from './transaction/run.js';

/** What is deleted. */
export type Deletes = Source<string> | KeyRange | (IndexRange & Pick<WaitOptions, 'wait'>);

type Options = Pick<Job<string>, 'signal' | 'durability'>;

/** Deletes in one commit. */
export async function deleteMany(
  from: Standpoint,
  deletes: Deletes,
  options: Options,
): Promise<IngestResult> {
  const { host, commits } = from;
  if (!isRange(deletes)) {
    return putMany(host, commits, deletes as Source<string>, { ...options, deletes: true });
  }
  const range = deletedRange('deleteMany', deletes as KeyRange | IndexRange);
  return isOfIndex(range)
    ? deleteEntries(from, range, options)
    : deleteRange(host, commits, range, options);
}

/**
 * A transaction: which rows the entries name is what it has read, so that a row which another
 * writer changes meanwhile goes only if it is still in the range.
 */
async function deleteEntries(
  from: Standpoint,
  range: IndexRange & WaitOptions,
  { signal, durability }: Options,
): Promise<IngestResult> {
  const startMs = performance.now();
  const { host, commits } = from;
  const { release } = await holdWith(from, range.index, { wait: range.wait, signal });
  release();
  let made: Made | undefined;
  const onCommit = (commit: Made) => {
    made = commit;
  };
  const rows = await new Transactions(host, commits).run((tx) => tx.deleteMany(range), {
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
  return { root: hex(commits.head.commitBytes), ...none, ms: performance.now() - startMs };
}
