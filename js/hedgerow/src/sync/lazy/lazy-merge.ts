/**
 * Merges into a store that is only partly here. It does not read what the remote has changed: it puts the local changes
 * on top, and compares only these rows. Of the common base it needs only the rows that changed here, which are here:
 * the remote may have lost the rest.
 */

import { checkSignal } from '../../base/abort-signal.js';
import { sameBytes } from '../../base/bytes.js';
import { HedgerowError } from '../../base/errors.js';
import { attempt } from '../../engine/branches/merge.js';
import { nowOther } from '../../engine/branches/revert.js';
import { type ConflictDecisions as Decided, ThreeWay } from '../../engine/branches/three-way.js';
import { BranchHead } from '../../engine/history/branch-head.js';
import { EMPTY_COMMIT } from '../../engine/history/known-segments-and-refs.js';
import { DecisionLog } from '../link/conflict-log.js';
import { decide } from '../link/conflict-policy.js';
import { areSameRows } from '../link/delta.js';
import type { MergeCounts, SyncJob, SyncParts } from '../link/link-context.js';
import { mergeIn, takeCommit } from '../link/merge-remote-rows.js';

/** The most tries; the local branch may move during each. */
const MAX_TRIES = 20;

/** Merges the branch of the remote into the local one, as one commit. */
export async function merge(context: SyncParts, seq: number, job: SyncJob): Promise<MergeCounts> {
  const { shared, refs, local } = context;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    checkSignal(job.signal);
    const { origin, fork } = await refs.look();
    // A store without rows takes all.
    if (sameBytes(origin, fork) || sameBytes(fork, EMPTY_COMMIT)) return mergeIn(context, seq, job);
    await shared.queueWork(() => local.refresh());
    const isTaken = await takeCommit(context, origin, (commit) =>
      areSameRows(shared, commit, fork),
    );
    if (isTaken !== undefined) return { rows: 1, conflicts: 0 };
    const conflicts = await putOnTop(context, seq, { origin, fork }, job);
    if (conflicts !== undefined) return { rows: 1, conflicts };
  }
  throw new HedgerowError(
    'conflict',
    `the store was written during ${MAX_TRIES} pulls: pull again`,
  );
}

interface Sides {
  readonly origin: Uint8Array;
  readonly fork: Uint8Array;
}

/** Resolves to the number of conflicts; to `undefined`, without a merge, if the local branch has moved. */
async function putOnTop(
  context: SyncParts,
  seq: number,
  { origin, fork }: Sides,
  { signal }: SyncJob,
): Promise<number | undefined> {
  const { shared, refs, local, durability, policy, log } = context;
  const mine = await local.holdHead();
  const { commitBytes } = mine.head;
  try {
    if (!(await refs.move({ landing: origin, landed: EMPTY_COMMIT }, durability))) return undefined;
    const landing = new BranchHead(shared, refs.names.landing);
    landing.isBare = true;
    try {
      await shared.queueWork(() => landing.refresh());
      const decisions = new DecisionLog(seq);
      const sides = { baseBytes: fork, theirsBytes: commitBytes, also: [], release: () => {} };
      const way = { hold: async () => sides, pairs: nowOther, otherwise: 'fail' } as const;
      const known: Decided = new Map();
      const work = {
        durability,
        signal,
        // This merges our rows into the rows of the remote, so the sides are swapped.
        async onConflict({ key, base, ours: theirs, theirs: ours }: Parameters<typeof decide>[1]) {
          const conflict = { key, base, ours, theirs };
          const decided = await decide(policy, conflict, await context.sent?.(key));
          if (decided.isLoss) decisions.add(conflict, decided);
          return decided.value;
        },
        onDecided: () => log.write(decisions),
      };
      const merged = await attempt(new ThreeWay(landing, way, work, known), 0);
      if (merged === undefined) return undefined;
      await refs.look();
      const isMine = async (commit: Uint8Array) => sameBytes(commit, commitBytes);
      const taken = await takeCommit(context, landing.head.commitBytes, isMine, origin);
      return taken === undefined ? undefined : decisions.size;
    } finally {
      landing.leave();
    }
  } finally {
    mine.release();
    await refs.look();
    await refs.move({ landing: EMPTY_COMMIT }, durability);
  }
}
