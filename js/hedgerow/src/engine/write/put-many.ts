/** Bulk puts and deletes, once they have begun: takes rows from a source, slice by slice. */

import { checkSignal } from '../../base/abort-signal.js';
import type { ByteSource } from '../../base/byte-source.js';
import { HedgerowError } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import type { EncodedRange } from '../../base/range.js';
import { turn } from '../../base/slice-queue.js';
import type { Host } from '../../core/operation-host.js';
import type { BranchHead } from '../history/branch-head.js';
import type { Bulk } from '../history/bulk-change-order.js';
import type { BulkJob } from './bulk-options.js';
import { Reporter, takeBytes, takeRows } from './feed-source-to-ingest.js';
import {
  abandonOnError,
  Ingest,
  type IngestCommit,
  type IngestOptions,
  type WriteResult,
} from './ingest.js';
import type { OpenSource } from './opened-source.js';
import { RowGatherer } from './row-gatherer.js';
import { openSource } from './row-source.js';
import { isAtHand, type Source } from './source-kind.js';

/** Puts or deletes the rows of a source, or applies them as a patch. */
export async function ingestRows<Row>(
  host: Host,
  branchHead: BranchHead,
  source: Source<Row> | ByteSource,
  job: BulkJob<Row>,
  bulk: Bulk,
  startMs: number,
): Promise<WriteResult> {
  const { key, signal } = job;
  await turn();
  if (job.isPatch && isAtHand(source)) await Promise.all([job.after, bulk.before]);
  checkSignal(signal);
  // With a function as key, bytes may be rows.
  const mayBeBytes = typeof key !== 'function' && job.deletes !== true;
  const opened = await openSource(source, signal, mayBeBytes, job.format !== undefined);
  try {
    return await ingestSource(host, branchHead, opened, job, bulk, startMs);
  } finally {
    opened.end();
  }
}

async function ingestSource<Row>(
  host: Host,
  branchHead: BranchHead,
  source: OpenSource<Row>,
  job: BulkJob<Row>,
  bulk: Bulk,
  startMs: number,
): Promise<WriteResult> {
  const { durability, signal, look } = job;
  const options = ingestOptions(source.kind, job);
  const ingest = await Ingest.begin(host, branchHead, durability, {
    ...options,
    bulk,
    freesSpace: job.deletes,
  });
  return abandonOnError(ingest, async () => {
    const reporter = new Reporter(ingest, source, job.onProgress);
    if (source.kind === 'bytes') await takeBytes(source, ingest, reporter, signal, look);
    else await takeRows(source, makeGatherer(job, host.sliceMs), ingest, reporter, signal);
    const committed = await ingest.commit();
    reporter.report(true);
    return buildBulkResult(ingest, committed, ingest.rows, startMs);
  });
}

function ingestOptions<Row>(kind: OpenSource<Row>['kind'], job: BulkJob<Row>): IngestOptions {
  const { key, format, prefix, signal } = job;
  const pointer = typeof key === 'string' ? key : undefined;
  if (kind === 'rows') {
    if (format === undefined) return { prefix, pointer, signal };
    throw new HedgerowError('invalid-argument', 'format is for bytes only');
  }
  if (typeof key === 'function' || job.deletes === true) {
    throw new HedgerowError('invalid-argument', 'for rows in bytes key must be a JSON pointer');
  }
  return { prefix, pointer, signal, bytes: { format, isPatch: job.isPatch === true } };
}

function makeGatherer<Row>({ key, deletes, isPatch }: BulkJob<Row>, sliceMs: number) {
  const puts = typeof key === 'string' ? 'rows' : 'pairs';
  const format = deletes === true ? 'deletes' : isPatch === true ? 'patch' : puts;
  return new RowGatherer<Row>(format, key, sliceMs);
}

/** Deletes all rows of a range. */
export async function dropRange(
  host: Host,
  branchHead: BranchHead,
  encoded: EncodedRange,
  { durability, signal }: Pick<BulkJob<string>, 'durability' | 'signal'>,
  bulk: Bulk,
  startMs: number,
): Promise<WriteResult> {
  const options = { bulk, signal, freesSpace: true };
  const ingest = await Ingest.begin(host, branchHead, durability, options);
  return abandonOnError(ingest, async () => {
    await ingest.drop(encoded);
    const committed = await ingest.commit();
    const rows = committed.rowsBefore - branchHead.head.rows;
    return buildBulkResult(ingest, committed, rows, startMs);
  });
}

/** Returns the result of a bulk change. */
export function buildBulkResult(
  ingest: Ingest,
  committed: IngestCommit,
  rows: number,
  startMs: number,
): WriteResult {
  const stats = ingest.statsOf(committed, startMs);
  return { root: hex(committed.commitBytes), rows, stats };
}
