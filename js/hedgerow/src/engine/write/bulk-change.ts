/**
 * Begins bulk changes: puts, deletes and patches of many rows. It takes their place among other changes in the turn of
 * the call; the code that takes rows is loaded then.
 */
import type { ByteSource } from '../../base/byte-source.js';
import { checkKey } from '../../base/key.js';
import { encodeRange, type KeyRange } from '../../base/range.js';
import type { Host } from '../../core/operation-host.js';
import type { BranchHead } from '../history/branch-head.js';
import type { BulkJob } from './bulk-options.js';
import { loadWrites } from './on-demand-write-code.js';
import { isAtHand, type Source } from './source-kind.js';
import type { WriteResult } from './write-result.js';

/** Puts or deletes rows, or applies a patch. */
export async function putMany<Row>(
  host: Host,
  branchHead: BranchHead,
  source: Source<Row> | ByteSource,
  job: BulkJob<Row>,
): Promise<WriteResult> {
  const startMs = performance.now();
  if (job.prefix !== undefined) checkKey(job.prefix, 'prefix');
  // Begin in the turn of the call, so that bulk changes commit in the order of their calls.
  const bulk = branchHead.bulks.begin(isAtHand(source));
  try {
    const { ingestRows } = await loadWrites();
    return await ingestRows(host, branchHead, source, job, bulk, startMs);
  } finally {
    bulk.end();
  }
}

/** Deletes all rows of a range. */
export async function deleteRange(
  host: Host,
  branchHead: BranchHead,
  range: KeyRange,
  job: Pick<BulkJob<string>, 'durability' | 'signal'>,
): Promise<WriteResult> {
  const startMs = performance.now();
  const encoded = encodeRange(range);
  const bulk = branchHead.bulks.beginCall();
  try {
    const { dropRange } = await loadWrites();
    return await dropRange(host, branchHead, encoded, job, bulk, startMs);
  } finally {
    bulk.end();
  }
}
