/** Mends a remote whose objects were lost, or do not lead to the rows of its head: by a head with only new ones. */

import { checkSignal } from '../../base/abort-signal.js';
import { sameBytes } from '../../base/bytes.js';
import { type ErrorKind, HedgerowError, kindOfError } from '../../base/errors.js';
import { scopeInside } from '../remote/format/cipher-suite.js';
import { sameRows } from '../remote/format/head-record.js';
import { withCheckpoint } from '../remote/format/head-succession.js';
import { readRowsRoot } from './delta.js';
import type { SyncContext, SyncJob } from './link-context.js';
import { makeCheckpoint } from './make-checkpoint.js';
import { pull } from './pull.js';
import { isDone, startNextHead, swap } from './push.js';
import { beginHistory, extendHistory } from './push-history.js';

/** Most tries, while other devices are first. */
const MAX_TRIES = 8;

/**
 * Puts a checkpoint of the head's rows, which must be here; with `replaces` of the local rows, whatever the head says.
 * Resolves to the number of the new head. Rejects with the fault of the remote if its rows are not here.
 */
export async function mendRemote(
  context: SyncContext,
  replaces: boolean,
  job: SyncJob,
): Promise<number> {
  const { refs, heads, local, shared } = context;
  const refusals = { count: 0 };
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    checkSignal(job.signal);
    const fault = await pull(context, job).then(() => undefined, faultOfRemote);
    const state = await refs.look();
    const last = await heads.latest(state, job.signal);
    if (last === undefined) {
      throw new HedgerowError('remote/gone', 'there is nothing at the remote: push to it');
    }
    await shared.queueWork(() => local.refresh());
    const { head, release } = await local.holdHead();
    try {
      const commitBytes = replaces ? head.commitBytes : state.origin;
      const rows = await readRowsRoot(shared, commitBytes);
      if (!replaces && !sameRows(rows, last.head.rows)) {
        if (fault === undefined) continue;
        throw fault;
      }
      const before = startNextHead(context, last);
      const [nonceBytes, seq] = [context.tools.random(16), before.seq + 1];
      const author = { writerBytes: state.writerBytes, nonceBytes, previousBytes: last.hashBytes };
      const to = { commitBytes, rows, seq };
      // Without a known checkpoint the packs have all rows.
      const from = { checkpoint: undefined };
      const layers = rows.count === 0 ? [] : await makeCheckpoint(context, before, from, to, job);
      const scope = scopeInside(context.scope, before);
      const push = { seq, nonceBytes };
      const history = await extendHistory(context, before, push, job).catch((cause) => {
        faultOfRemote(cause);
        return beginHistory(context, before, [push], job);
      });
      const checkpoint = { layers, history };
      const next = withCheckpoint(before, rows, undefined, checkpoint, author, scope);
      const wanted = { head: next, edits: undefined };
      const swapped = await swap(context, wanted, commitBytes, job, refusals);
      if (isDone(swapped)) return swapped.seq;
      if (typeof swapped === 'object' && (await isThere(context, nonceBytes, job))) return seq;
    } finally {
      release();
      heads.bring(undefined);
    }
    await context.tools.sleep(1000 * context.tools.chance(), job.signal);
  }
  throw new HedgerowError('conflict', `other devices were first ${MAX_TRIES} times: try again`);
}

/** Returns whether the remote now has the head whose swap got no answer. */
async function isThere(
  { refs, heads }: SyncContext,
  nonceBytes: Uint8Array,
  { signal }: SyncJob,
): Promise<boolean> {
  const now = await heads.latest(await refs.look(), signal);
  return now !== undefined && sameBytes(now.head.nonceBytes, nonceBytes);
}

/** Returns an error that a mend is for; throws other errors. */
function faultOfRemote(cause: unknown): HedgerowError {
  const codes: readonly ErrorKind[] = ['remote/data', 'invalid-data/delta'];
  if (cause instanceof HedgerowError && codes.includes(kindOfError(cause))) return cause;
  throw cause;
}
