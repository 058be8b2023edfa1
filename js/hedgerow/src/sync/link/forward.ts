/**
 * Brings an entry to a store without changes since its last merge: the local branch commits it, and the branch of the
 * remote moves to that commit. So there is one transaction, in place of one for each branch.
 */

import { sameBytes } from '../../base/bytes.js';
import type { Partner } from '../../engine/history/joint-moves.js';
import { checkpointRows, type TailEntry } from '../remote/format/head-record.js';
import { scopeInside } from '../remote/format/suite.js';
import type { SyncContext, SyncJob } from './context.js';
import { applyDeltas, areSameRows } from './delta.js';
import { deltaOf, type HeadUpdate, seenMoves } from './tail-entries.js';

/**
 * Applies an entry to both branches. Resolves to the number of changed rows; to `undefined` if that is impossible, with
 * both branches as they were.
 */
export async function forward(
  context: SyncContext,
  now: HeadUpdate,
  entry: TailEntry,
  job: SyncJob,
): Promise<number | undefined> {
  const { shared, local, refs, durability } = context;
  const { state, seen } = now;
  if (!sameBytes(state.fork, state.origin)) return undefined;
  // The commit of a checkpoint is kept for long, so it must have no indexes.
  const checkpoint = checkpointRows(seen.head.checkpoint);
  if (sameBytes(entry.rows.rootBytes, checkpoint.rootBytes)) return undefined;
  await shared.queueWork(() => local.refresh());
  const { head, release } = await local.holdHead();
  try {
    if (!(await areSameRows(shared, head.commitBytes, state.origin))) return undefined;
    const moves = (made: Uint8Array) => ({ ...seenMoves(now), origin: made, fork: made });
    const partner: Partner = async (write, made) => {
      if (!(await refs.moveBy(write, moves(made)))) return false;
      // Before watchers of the local branch run: else they would see it ahead of the remote's branch.
      await refs.followNow([{ name: refs.names.origin }]);
      return true;
    };
    const { signal } = job;
    const [deltas, onto, after] = [
      [await deltaOf(context, entry, scopeInside(context.scope, seen.head), job)],
      head.commitBytes,
      entry.rows,
    ];
    const applied = await applyDeltas(local, { deltas, after, onto, durability, partner, signal });
    if (applied.outcome !== 'applied') return undefined;
    // Without a changed row there was no commit, which would have moved the refs.
    if (!(await refs.move(moves(applied.commitBytes), durability))) return undefined;
    return applied.rows;
  } finally {
    release();
  }
}
