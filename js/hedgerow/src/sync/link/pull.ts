/**
 * Pulls: brings the rows of the remote to its branch here, and merges that into the local one. Each step takes the value
 * of the one before: the head, its entries, the applied rows, the merged ones.
 */

import { checkSignal } from '../../base/abort-signal.js';
import { sameBytes } from '../../base/bytes.js';
import { HedgerowError, kindOfError } from '../../base/errors.js';
import { sameRows } from '../remote/format/head-record.js';
import { applyEntries } from './apply-entries.js';
import { readRowsRoot } from './delta.js';
import type { HeadUpdate } from './head-entries.js';
import type { PullResult, SyncContext, SyncJob } from './link-context.js';
import { readEntries } from './read-entries.js';

/** Most tries of a pull, while other tabs are first. */
const MAX_TRIES = 100;

/** Pulls once. */
export async function pull(context: SyncContext, job: SyncJob): Promise<PullResult> {
  for (let tries = 0; ; tries++) {
    checkSignal(job.signal);
    const state = await context.refs.look();
    const seen = await context.heads.latest(state, job.signal);
    if (seen === undefined) return { seq: 0, rows: 0, conflicts: 0 };
    const update = { state, seen, base: await readRowsRoot(context.shared, state.origin) };
    const forwarded = isHere(update) ? 0 : await bringIn(context, update, job);
    if (forwarded !== undefined) {
      const { seq } = seen.head;
      const { rows: merged, conflicts } = await context.replica.merge(seq, job);
      const pulled = { seq, rows: forwarded + merged, conflicts };
      if (pulled.rows + conflicts > 0) job.onPull?.(pulled);
      return pulled;
    }
    if (tries < MAX_TRIES) await context.tools.sleep(10 * context.tools.chance(), job.signal);
    else throw new HedgerowError('conflict', 'another tab was first a hundred times: pull again');
  }
}

/** Returns whether this head was seen, and the branch of the remote has its rows. */
export function isHere({ state, seen, base }: HeadUpdate): boolean {
  const isSeen = seen.head.seq === state.seq && sameBytes(seen.hashBytes, state.seenBytes);
  return isSeen && sameRows(base, seen.head.rows);
}

/**
 * Brings the rows of a head to the branch of the remote. Resolves to the number of local rows that changed with it; to
 * `undefined` if another tab moved a ref first, or there is a later head by now.
 */
async function bringIn(
  context: SyncContext,
  update: HeadUpdate,
  job: SyncJob,
): Promise<number | undefined> {
  try {
    const found = await readEntries(context, update, job);
    return found && (await applyEntries(context, found, job));
  } catch (cause) {
    // Objects of the head may have been deleted since it was read, or come damaged. Each head is tried once.
    const isInvalid = kindOfError(cause) === 'remote/data';
    const hasMoved = () => context.heads.hasMoved(update.state, job.signal).catch(() => false);
    if (!isInvalid || !(await hasMoved())) throw cause;
    return undefined;
  }
}
