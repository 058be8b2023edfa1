/**
 * Repairs a damaged store: moves it back to the newest commit that verifies. Without such a commit, and if the caller
 * asks for it, keeps the readable rows of the newest commit. Then repairs the other refs.
 */

import { HedgerowError } from '../../base/errors.js';
import type { SegmentStore } from '../../storage/segment-store.js';
import type { BranchHead } from '../history/branch-head.js';
import { possibleUndeclaredTrees } from '../history/undeclared-trees.js';
import { type ChunkFault, isLoss } from '../verify/verify-commit.js';
import { inspect, type Pin } from '../verify/verify-store.js';
import { Repair, toUnsoundError } from './repair-branch.js';
import type { RepairOptions } from './repair-options.js';
import { repairOthers } from './repair-other-refs.js';
import type { AnnounceRepair, ChunkMender, RepairedRef, RepairJob, RepairResult } from './types.js';

/** The most attempts at a repair while other tabs commit. */
const MAX_TRIES = 8;

/** See `db.health.repair()`; `announce` notifies other tabs. */
export async function repairOpen(
  branchHead: BranchHead,
  options: RepairOptions,
  announce: AnnounceRepair,
  mend?: ChunkMender,
): Promise<RepairResult> {
  const { pins, shared } = branchHead;
  const { segments, sliceMs } = shared.host;
  const repair = async () => {
    const pin: Pin = (commitBytes) => pins.use(commitBytes);
    const job = { ...options, sliceMs, durability: 'strict', pin, announce, mend } as const;
    const result = await repairSegments(segments, job);
    // No commit announces the fetched chunks.
    if (result.fetched) await shared.inventory.load();
    // The older commit may have indexes and sum trees that no handle names now.
    if (result.faults.length > 0 || result.others.length > 0) {
      for (const one of shared.branchHeads) one.leftovers = possibleUndeclaredTrees();
    }
    // Handles of deleted branches learn of it at their next use.
    await shared.keepUp();
    return result;
  };
  return branchHead.exclusively(repair, options.signal);
}

/** Repairs a store. Run it exclusively: no other call of this tab may commit during the repair. */
export async function repairSegments(
  segments: SegmentStore,
  job: RepairJob,
): Promise<RepairResult> {
  let fetched = job.mend && 0;
  let main: RepairResult | undefined;
  const done: RepairedRef[] = [];
  let mended: readonly ChunkFault[] = [];
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { inspection, verification } = await inspect(segments, job.sliceMs, job.pin, job);
    const head = inspection.ref;
    const { root, others } = verification;
    const first = verification.faults.find(isLoss);
    const faults = [...mended, ...verification.faults];
    const all = [verification, ...others].flatMap((one) => one.faults);
    const come = all.some(isLoss) ? await job.mend?.(inspection, all) : 0;
    if (come) {
      fetched = (fetched ?? 0) + come;
      mended = faults;
      continue;
    }
    // This is no damage: to cut it out would destroy data of a later version of this library.
    const later = all.find(({ code }) => code === 'newer-version');
    if (later !== undefined) {
      const message = 'written by a newer version of Hedgerow: update the app';
      throw new HedgerowError('newer-version/format', message, { chunk: later.chunk });
    }
    if (first === undefined || head === undefined) {
      if (!(await repairOthers(inspection, others, job, done))) continue;
      const sound = { root, commitsDropped: 0, faults, lost: [], rowsLost: 0 };
      return { ...(main ?? sound), others: done, ...(fetched !== undefined && { fetched }) };
    }
    const result = await new Repair(inspection, head, verification, job).make();
    if (result === undefined) throw toUnsoundError(first);
    // The next try verifies the other refs against the repaired main branch.
    if (result !== 'beaten') main = result;
  }
  throw new HedgerowError(
    'conflict',
    `another tab wrote during each of ${MAX_TRIES} repairs: close other tabs, or try again`,
  );
}
