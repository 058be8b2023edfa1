/** The record of the collections of a remote: read and replaced like the head of a branch. */

import { sameBytes } from '../../base/bytes.js';
import type { Scope } from '../remote/format/cipher-suite.js';
import { utf8 } from '../remote/format/field-codec.js';
import { decodeRecord, encodeRecord, type MarkRecords } from '../remote/format/garbage-marks.js';
import { unsafeFault } from '../remote/remote-faults.js';
import { swapPatiently } from '../remote/swap-head-with-retries.js';
import type { SyncContext, SyncJob } from './link-context.js';
import { RECORD_BRANCH } from './link-ref-names.js';

/** The record as it was read; without token if the remote has no record. */
export interface FoundRecord extends MarkRecords {
  readonly token: string | undefined;
  readonly nonceBytes: Uint8Array | undefined;
  /** When it was written, by the clock of the remote; 0 without a record. */
  readonly modifiedMs: number;
}

const NO_RECORD: FoundRecord = {
  ...{ collected: 0, marks: [], token: undefined, nonceBytes: undefined, modifiedMs: 0 },
};

/** Returns the scope of the record and the marks: they are encrypted as heads are. */
export function recordScope({ scope }: SyncContext): Scope {
  return { ...scope, contextBytes: utf8(RECORD_BRANCH) };
}

/** Reads the record: one request. */
export async function readRecord(context: SyncContext, { signal }: SyncJob): Promise<FoundRecord> {
  const { remote } = context;
  const found = await remote.readHead(RECORD_BRANCH, { signal, pastCaches: true });
  if (found === undefined) return NO_RECORD;
  const { token, modifiedMs } = found;
  if (modifiedMs === undefined) {
    throw unsafeFault('the remote does not tell when a head was written: nothing can be collected');
  }
  return { ...(await decodeRecord(found.bytes, recordScope(context))), token, modifiedMs };
}

/** Replaces the record. Resolves to the new one as it is read then; to `undefined` if another collector was first. */
export async function swapRecord(
  context: SyncContext,
  { token }: FoundRecord,
  records: MarkRecords,
  job: SyncJob,
): Promise<FoundRecord | undefined> {
  const { remote, tools } = context;
  const nonceBytes = tools.random(16);
  const bytes = await encodeRecord(records, nonceBytes, recordScope(context));
  const wanted = { branch: RECORD_BRANCH, token, bytes, signal: job.signal };
  const { state } = await swapPatiently(remote, wanted, tools);
  if (state === 'lost') return undefined;
  // This also shows whether a swap without an answer has succeeded.
  const now = await readRecord(context, job);
  return sameBytes(now.nonceBytes, nonceBytes) ? now : undefined;
}
