/** Merges the branch of a remote, or of a server, into the local one. */

import { sameBytes } from '../../base/bytes.js';
import { mergeBranch } from '../../engine/branches/merge.js';
import type { JointWrite } from '../../engine/history/joint-moves.js';
import { EMPTY_COMMIT } from '../../engine/history/known-segments-and-refs.js';
import { DecisionLog } from './conflict-log.js';
import { decide } from './conflict-policy.js';
import type { MergeContext, MergeCounts, SyncJob } from './link-context.js';

/** Merges the branch of the remote into the local one, as one commit. */
export async function mergeIn(
  context: MergeContext,
  seq: number,
  { signal }: SyncJob,
): Promise<MergeCounts> {
  const { shared, refs, local, log, durability, policy } = context;
  const { origin, fork } = await refs.look();
  if (sameBytes(origin, fork)) return { rows: 0, conflicts: 0 };
  // A local branch that never had a row moves to the commit of the other side.
  const isEmpty = async (commitBytes: Uint8Array) => sameBytes(commitBytes, EMPTY_COMMIT);
  const taken = (await isEmpty(fork)) ? await takeCommit(context, origin, isEmpty) : undefined;
  if (taken !== undefined) return { rows: taken, conflicts: 0 };
  const decisions = new DecisionLog(seq);
  await shared.queueWork(() => local.refresh());
  const { rows } = await mergeBranch(local, context.originName, {
    durability,
    signal,
    async onConflict(conflict) {
      const decided = await decide(policy, conflict, await context.sent?.(conflict.key));
      if (decided.isLoss) decisions.add(conflict, decided);
      return decided.value;
    },
    onDecided: () => log.write(decisions),
  });
  return { rows, conflicts: decisions.size };
}

/**
 * Moves the local branch to a commit, if its own one `mayGo`. The merge base is then the commit `fork`. Resolves to its
 * number of rows, or to `undefined` if that is impossible: only a merge makes sum trees that follow rows.
 */
export async function takeCommit(
  { shared, refs, local, durability, settle }: MergeContext,
  commitBytes: Uint8Array,
  mayGo: (commitBytes: Uint8Array) => Promise<boolean>,
  fork = commitBytes,
): Promise<number | undefined> {
  if (shared.host.sums !== undefined) return undefined;
  const rows = await local.exclusively(async () => {
    if (!(await mayGo(local.head.commitBytes))) return undefined;
    const { generation } = local.head;
    shared.checkOwner(local);
    const partner = (write: JointWrite) => refs.moveBy(write, { fork });
    if (!(await local.move(commitBytes, [], { durability, partner }))) return undefined;
    await local.moveOnto(commitBytes, generation + 1);
    return local.head.rows;
  });
  if (rows !== undefined) settle();
  return rows;
}
