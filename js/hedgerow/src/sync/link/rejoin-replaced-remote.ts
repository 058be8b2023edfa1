/** Joins a remote that went back, or is another one: forgets its earlier state. */

import { checkSignal } from '../../base/abort-signal.js';
import { HedgerowError } from '../../base/errors.js';
import { EMPTY_COMMIT } from '../../engine/history/known-segments-and-refs.js';
import { NO_HASH } from '../remote/format/field-codec.js';
import type { PullResult, SyncContext, SyncJob } from './link-context.js';
import type { Moves } from './link-state.js';
import { makeForgetMoves } from './prepare-link-refs.js';
import { pull } from './pull.js';

/** The rows that stay. */
export type Keep = 'union' | 'remote';

/** Most tries, while other tabs move the refs first. */
const MAX_TRIES = 20;
const NOTHING = { repositoryBytes: undefined, seq: 0, seenBytes: NO_HASH, epoch: 0 };

/** Forgets the seen head of the remote, and pulls. Remembers it while the remote cannot be read. */
export async function rejoin(context: SyncContext, keep: Keep, job: SyncJob): Promise<PullResult> {
  if (keep !== 'union' && keep !== 'remote') {
    throw new HedgerowError('invalid-argument', "rejoin: keep is 'union' or 'remote'");
  }
  const { refs, heads, remoteBranch } = context;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    checkSignal(job.signal);
    await refs.look();
    const seen = await heads.latest(NOTHING, job.signal);
    if (seen === undefined && keep === 'remote') {
      throw new HedgerowError('remote/gone', `the remote has no ${remoteBranch}: nothing to keep`);
    }
    if (await forget(context, keep)) return pull(context, job);
  }
  throw new HedgerowError(
    'conflict',
    `another tab moved the connection ${MAX_TRIES} times: try again`,
  );
}

/**
 * Begins the connection again, in one move. The fork decides which rows count as changes of this side in a merge: all
 * local rows, or no rows.
 */
async function forget({ refs, local, shared, durability }: SyncContext, keep: Keep) {
  await shared.queueWork(() => local.refresh());
  const { head, release } = await local.holdHead();
  try {
    const moves: Moves = {
      ...makeForgetMoves(refs),
      ...(refs.bytes('epoch') && { epoch: EMPTY_COMMIT }),
      origin: EMPTY_COMMIT,
      fork: keep === 'union' ? EMPTY_COMMIT : head.commitBytes,
    };
    return await refs.move(moves, durability);
  } finally {
    release();
  }
}
