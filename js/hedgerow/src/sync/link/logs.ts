/** The logs of a head: read for entries that are older than the head's own, and put when a head has no more space. */

import { objectPath } from '../remote/format/content-names.js';
import type { HeadRecord, LogRecord, Tail } from '../remote/format/head-record.js';
import { entriesSince, joinedTail, logsSince, withLog } from '../remote/format/head-rules.js';
import { decodeLog, encodeLog } from '../remote/format/log.js';
import { scopeInside } from '../remote/format/suite.js';
import type { SyncContext, SyncJob } from './context.js';
import { readRowsRoot } from './delta.js';
import { fetchObject } from './fetch-object.js';
import type { HeadUpdate } from './tail-entries.js';

/** Reads the tail of a head, as far back as this device needs it: usually the head's own, without a request. */
export async function tailFor(context: SyncContext, now: HeadUpdate, job: SyncJob): Promise<Tail> {
  const { head } = now.seen;
  const { seq, origin, pending } = now.state;
  // The unanswered push would have that number.
  const hasPending = pending === undefined || logsSince(head, pending.seq - 1).length === 0;
  if (hasPending) {
    const { rootBytes } = await readRowsRoot(context.shared, origin);
    if (entriesSince(head, rootBytes) !== undefined) return head;
  }
  const isInLogs = seq + 1 >= (head.logs[0]?.seq ?? Number.POSITIVE_INFINITY);
  return isInLogs ? tailSince(context, head, seq, job) : head;
}

/** Reads the tail of a head with all entries after number `seq`: a request for each log that has some, all at once. */
export async function tailSince(
  context: SyncContext,
  head: HeadRecord,
  seq: number,
  job: SyncJob,
): Promise<Tail> {
  const fetchLog = async (record: LogRecord): Promise<Tail> => {
    const bytes = await fetchObject(context, ['d', 'log'], record, job);
    return (await decodeLog(bytes, scopeInside(context.scope, head))).entries;
  };
  return joinedTail(head, await Promise.all(logsSince(head, seq).map(fetchLog)));
}

/** Puts the tail of a head into a log. The returned head has space for an entry, and is incomplete without one. */
export async function moveIntoLog(
  { remote, tools, scope }: SyncContext,
  head: HeadRecord,
  { signal }: SyncJob,
): Promise<HeadRecord> {
  const inside = scopeInside(scope, head);
  const { bytes, record } = await encodeLog(head, tools.random(16), tools.hash, inside);
  await remote.put(objectPath('d', record.nameBytes), bytes, { signal });
  return withLog(head, record);
}
