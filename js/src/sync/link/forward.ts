/**
 * Brings an entry to a store that has changed nothing since its last merge: it is committed to the local branch, and the
 * branch of the remote stands at that commit. One transaction then, in place of one for each branch.
 */

import { sameBytes } from '../../base/bytes.js';
import { checkpointRows, type TailEntry } from '../remote/format/head-record.js';
import { scopeInside } from '../remote/format/suite.js';
import type { SyncContext, SyncJob } from './context.js';
import { applyDeltas, areSameRows } from './delta.js';
import { deltaOf, type HeadUpdate, seenMoves } from './tail-entries.js';

/** The rows that it changes; undefined if that cannot be: nothing was stored then. */
export async function forward(
  context: SyncContext,
  now: HeadUpdate,
  entry: TailEntry,
  job: SyncJob,
): Promise<number | undefined> {
  const { shared, local, refs, durability } = context;
  const { state, seen } = now;
  if (!sameBytes(state.fork, state.origin)) return undefined;
  // The commit of a checkpoint is kept for long: it is one without indexes.
  const checkpoint = checkpointRows(seen.head.checkpoint);
  if (sameBytes(entry.rows.rootBytes, checkpoint.rootBytes)) return undefined;
  await shared.queueWork(() => local.refresh());
  const { head, release } = await local.holdHead();
  try {
    if (!(await areSameRows(shared, head.commitBytes, state.origin))) return undefined;
    const moves = (made: Uint8Array) => ({ ...seenMoves(now), origin: made, fork: made });
    local.partner = async (write, made) => {
      const also = refs.moves(moves(made));
      const isMoved = await write([], also);
      if (isMoved) {
        refs.announceMoves(also);
        // Before watchers of the local branch hear: else they would see it ahead of the remote's.
        await refs.followNow([{ name: refs.names.origin }]);
      }
      return isMoved;
    };
    const { signal } = job;
    const [deltas, onto, after] = [
      [await deltaOf(context, entry, scopeInside(context.scope, seen.head), job)],
      head.commitBytes,
      entry.rows,
    ];
    const applied = await applyDeltas(local, { deltas, after, onto, durability, signal });
    if (applied.outcome !== 'applied') return undefined;
    // If no row has changed there was no commit.
    if (!(await refs.move(moves(applied.commitBytes), durability))) return undefined;
    return applied.rows;
  } finally {
    local.partner = undefined;
    release();
  }
}
