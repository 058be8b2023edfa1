/** Repairs all refs except the main branch. Run it when the main branch is sound. */

import { FORMAT } from '../../base/limits.js';
import type { Ref, RefDrop, RefMove } from '../../storage/segment-store.js';
import { CONFLICTS_END, REMOTE_BRANCHES } from '../history/branch-name.js';
import { BRANCH_REF, EMPTY_COMMIT, FORK_REF } from '../history/known-segments-and-refs.js';
import { writeRefs } from '../history/ref-write.js';
import {
  type ChunkFault,
  type Inspection,
  isLoss,
  type RefFaults,
} from '../verify/verify-commit.js';
import { Repair, toUnsoundError } from './repair-branch.js';
import type { RepairedRef, RepairJob } from './types.js';

/** Repairs refs, and adds the outcome of each to `done`; `false` if another tab has moved one of them. */
export async function repairOthers(
  inspection: Inspection,
  others: readonly RefFaults[],
  job: RepairJob,
  done: RepairedRef[],
): Promise<boolean> {
  for (const one of others) {
    if (!one.faults.some(isLoss)) continue;
    const ref = inspection.refs.find(({ name }) => name === one.ref) as Ref;
    const repaired =
      (isOfLink(ref.name) ? undefined : await repairBranch(inspection, one, ref, job)) ??
      (await forget(inspection, one, ref, job));
    if (repaired === 'beaten') return false;
    done.push(repaired);
  }
  return true;
}

/**
 * Reports whether a ref is a fork, or a connection's copy of its remote. Connections begin these again; only this store
 * has a log.
 */
function isOfLink(ref: string): boolean {
  const isRemote = ref.startsWith(BRANCH_REF + REMOTE_BRANCHES) && !ref.endsWith(CONFLICTS_END);
  return isRemote || ref.startsWith(FORK_REF);
}

/** Deletes a connection's copy; a fork becomes the commit without rows, so that its branch still has a parent. */
async function forget(
  { host: { segments } }: Inspection,
  faults: RefFaults,
  { name, generation: expected }: Ref,
  { durability, announce }: RepairJob,
): Promise<RepairedRef | 'beaten'> {
  const move = { name, commitBytes: EMPTY_COMMIT, generation: expected + 1, format: FORMAT };
  const change: RefMove | RefDrop = name.startsWith(FORK_REF)
    ? { ...move, expected }
    : { name, expected, isDropped: true };
  if (!(await writeRefs(segments, { segments: [], also: [change], durability }))) return 'beaten';
  announce(name, Number.POSITIVE_INFINITY);
  return { ...faults, done: 'forgotten', commitsDropped: 0, rowsLost: 0 };
}

async function repairBranch(
  inspection: Inspection,
  found: RefFaults,
  ref: Ref,
  job: RepairJob,
): Promise<RepairedRef | 'beaten' | undefined> {
  const { faults } = found;
  // Only the app reads a log: a lost log must not prevent the repair of the store.
  const isLog = ref.name.endsWith(CONFLICTS_END);
  const { rows } = await inspection.verify(ref.commitBytes, job);
  const result = await new Repair(
    inspection,
    ref,
    { faults, rows },
    isLog ? { ...job, salvage: true } : job,
  ).make();
  if (result === 'beaten') return result;
  if (result === undefined) {
    if (isLog) return undefined;
    throw toUnsoundError(faults.find(isLoss) as ChunkFault, ref.name.slice(BRANCH_REF.length));
  }
  const { lost, commitsDropped, rowsLost } = result;
  return { ...found, done: lost.length > 0 ? 'salvaged' : 'back', commitsDropped, rowsLost };
}
