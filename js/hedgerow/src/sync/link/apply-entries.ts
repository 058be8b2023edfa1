/** Moves the branch of the remote to the rows of a head: by the entries of its tail, or by its checkpoint. */

import { sameBytes } from '../../base/bytes.js';
import type { Partner } from '../../engine/history/joint-moves.js';
import { checkpointRows, type TailEntry } from '../remote/format/head-record.js';
import { applyDeltas, readRowsRoot } from './delta.js';
import type { HeadEntries } from './head-entries.js';
import type { SyncContext, SyncJob } from './link-context.js';

/** The branches that entries are applied to. */
type Branches = Pick<SyncContext, 'shared' | 'local' | 'origin' | 'refs' | 'durability'>;

/**
 * Moves the branch of the remote to the rows of a head, together with the state of the link. Resolves to the number of
 * local rows that changed with it; to `undefined` if another tab moved a ref first: then read the state again.
 */
export async function applyEntries(
  context: Branches & Pick<SyncContext, 'replica'>,
  found: HeadEntries,
  job: SyncJob,
): Promise<number | undefined> {
  const { entries } = found;
  const [only, ...more] = entries ?? [];
  if (only !== undefined && more.length === 0) {
    const applied = await forward(context, found, only, job);
    if (applied !== undefined) return applied;
  }
  const outcome = entries ? await advanceOrigin(context, found, entries, job) : 'wrong-root';
  // Without edits that lead to the rows of the head, its checkpoint must bring them.
  const isDone =
    outcome === 'wrong-root' ? await context.replica.land(found, job) : outcome === 'applied';
  return isDone ? 0 : undefined;
}

/** Returns whether an entry leads to the rows of the checkpoint. */
function isCheckpoint({ rows }: TailEntry, { seen }: HeadEntries): boolean {
  return sameBytes(rows.rootBytes, checkpointRows(seen.head.checkpoint).rootBytes);
}

/**
 * Brings an entry to a store without changes since its last merge: the local branch commits it, and the branch of the
 * remote moves to that commit. So there is one transaction, in place of one for each branch. Resolves to the number of
 * changed rows; to `undefined` if that is impossible, with both branches as they were.
 */
async function forward(
  { shared, local, refs, durability }: Branches,
  found: HeadEntries,
  entry: TailEntry,
  { signal }: SyncJob,
): Promise<number | undefined> {
  const { state, base, marks, objects } = found;
  if (!sameBytes(state.fork, state.origin)) return undefined;
  // The commit of a checkpoint is kept for long, so it must have no indexes.
  if (isCheckpoint(entry, found)) return undefined;
  await shared.queueWork(() => local.refresh());
  const { head, release } = await local.holdHead();
  try {
    const { rootBytes } = await readRowsRoot(shared, head.commitBytes);
    if (!sameBytes(rootBytes, base.rootBytes)) return undefined;
    const moves = (made: Uint8Array) => ({ ...marks, origin: made, fork: made });
    const partner: Partner = async (write, made) => {
      if (!(await refs.moveBy(write, moves(made)))) return false;
      // Before watchers of the local branch run: else they would see it ahead of the remote's branch.
      await refs.followNow([{ name: refs.names.origin }]);
      return true;
    };
    const [deltas, onto, after] = [[await objects.delta(entry)], head.commitBytes, entry.rows];
    const change = { deltas, after, onto, durability, partner, signal };
    const applied = await applyDeltas(local, change);
    if (applied.outcome !== 'applied') return undefined;
    // Without a changed row there was no commit, which would have moved the refs.
    if (!(await refs.move(moves(applied.commitBytes), durability))) return undefined;
    return applied.rows;
  } finally {
    release();
  }
}

/** Applies entries of the tail to the branch of the remote, in one commit, or two if the checkpoint is between them. */
async function advanceOrigin(
  { origin, refs, durability }: Branches,
  found: HeadEntries,
  entries: readonly TailEntry[],
  { signal }: SyncJob,
): Promise<'applied' | 'wrong-root' | 'moved'> {
  const { state, marks, objects } = found;
  // The next checkpoint has the changes since this one, so its commit is kept.
  const upTo = entries.findIndex((entry) => isCheckpoint(entry, found));
  let onto = state.origin;
  for (const part of [entries.slice(0, upTo + 1), entries.slice(upTo + 1)]) {
    const last = part[part.length - 1];
    if (last === undefined) continue;
    const also = refs.moves(last === entries[entries.length - 1] ? marks : {});
    const deltas = objects.deltas(part);
    const change = { deltas, after: last.rows, onto, durability, also, signal };
    const applied = await applyDeltas(origin, change);
    if (applied.outcome !== 'applied') return applied.outcome;
    onto = applied.commitBytes;
    refs.recordMoves(also);
    await refs.look();
    if (isCheckpoint(last, found) && !(await refs.move({ checkpoint: onto }, durability))) {
      return 'moved';
    }
  }
  if (entries.length > 0) return 'applied';
  return (await refs.move(marks, durability)) ? 'applied' : 'moved';
}
