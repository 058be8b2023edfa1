/** Pulls: brings the rows of the remote to its branch here, and merges that into the local one. */

import { sameBytes } from '../../base/bytes.js';
import { HedgerowError } from '../../base/errors.js';
import { checkSignal } from '../../base/signal.js';
import { mergeBranch } from '../../engine/branches/merge.js';
import { EMPTY_COMMIT } from '../../engine/history/inventory.js';
import type { JointWrite } from '../../engine/history/joint-moves.js';
import { sameRows } from '../remote/format/head-record.js';
import { DecisionLog } from './conflict-log.js';
import type { MergeContext, PullResult, SyncContext, SyncJob } from './context.js';
import { readRowsRoot } from './delta.js';
import type { SeenHead } from './heads.js';
import { importHead } from './import-head.js';
import type { LinkState } from './link-state.js';
import { decide } from './policy.js';

/** Most tries of a pull, while other tabs are first. */
const MAX_TRIES = 100;

/** Pulls once. */
export async function pull(context: SyncContext, job: SyncJob): Promise<PullResult> {
  for (let tries = 0; ; tries++) {
    checkSignal(job.signal);
    const state = await context.refs.look();
    const seen = await context.heads.latest(state, job.signal);
    if (seen === undefined) return { seq: 0, applied: 0, conflicts: 0 };
    const { seq } = seen.head;
    const isHere = seq === state.seq && (await hasRowsOf(context, state, seen));
    const forwarded = !isHere
      ? await importHead(context, { state, seen }, job).catch((cause) =>
          rethrowUnlessMoved(context, state, cause, job),
        )
      : 0;
    if (forwarded !== undefined) {
      const merged = context.merge?.(seq, job) ?? mergeIn(context, seq, job);
      const { applied, conflicts } = await merged;
      const pulled = { seq, applied: forwarded + applied, conflicts };
      if (applied + forwarded + conflicts > 0) job.onPull?.(pulled);
      return pulled;
    }
    if (tries < MAX_TRIES) await context.tools.sleep(10 * context.tools.chance(), job.signal);
    else throw new HedgerowError('conflict', 'another tab was first a hundred times: pull again');
  }
}

/** Returns whether this head was seen, and the branch of the remote has its rows. */
export async function hasRowsOf(
  { shared }: SyncContext,
  { origin, seenBytes }: LinkState,
  { head, hashBytes }: SeenHead,
): Promise<boolean> {
  if (!sameBytes(hashBytes, seenBytes)) return false;
  return sameRows(await readRowsRoot(shared, origin), head.rows);
}

/**
 * Resolves if there is a later head by now: objects of the first may have been deleted since it was read, or come
 * damaged. Rejects with the cause otherwise, so each head is tried once.
 */
async function rethrowUnlessMoved(
  { heads }: SyncContext,
  state: LinkState,
  cause: unknown,
  { signal }: SyncJob,
): Promise<undefined> {
  const isInvalid = cause instanceof HedgerowError && cause.code === 'invalid-remote';
  if (!isInvalid || !(await heads.hasMoved(state, signal).catch(() => false))) throw cause;
}

/** Merges the branch of the remote into the local one, as one commit. */
export async function mergeIn(
  context: MergeContext,
  seq: number,
  { signal }: SyncJob,
): Promise<Pick<PullResult, 'applied' | 'conflicts'>> {
  const { shared, refs, local, log, durability, policy } = context;
  const { origin, fork } = await refs.look();
  if (sameBytes(origin, fork)) return { applied: 0, conflicts: 0 };
  const taken = await takeWhole(context, origin, fork);
  if (taken !== undefined) return { applied: taken, conflicts: 0 };
  const decisions = new DecisionLog(seq);
  await shared.queueWork(() => local.refresh());
  const { applied } = await mergeBranch(local, context.originName, {
    durability,
    signal,
    async onConflict(conflict) {
      const decided = await decide(policy, conflict, await context.sent?.(conflict.key));
      if (decided.isLoss) decisions.add(conflict, decided);
      return decided.value;
    },
    onDecided: () => log.write(decisions),
  });
  return { applied, conflicts: decisions.size };
}

/**
 * Moves a local branch that never had a row to the commit of the remote's branch. Resolves to its number of rows, or to
 * `undefined` if that is impossible. Only a merge makes sum trees that follow rows.
 */
async function takeWhole(
  context: MergeContext,
  origin: Uint8Array,
  fork: Uint8Array,
): Promise<number | undefined> {
  if (!sameBytes(fork, EMPTY_COMMIT)) return undefined;
  return takeCommit(context, origin, async (commit) => sameBytes(commit, EMPTY_COMMIT));
}

/** Moves the local branch to a commit, if its own one `mayGo`. The merge base is then the commit `fork`. */
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
