import { sumTreeCalls } from '../core/calls/sum-tree-calls.js';
import { holdNamed } from '../engine/branches/branches.js';
import type { BranchHead } from '../engine/history/branch-head.js';
import { type HeldCommit, holdBranch } from '../engine/history/branch-refs.js';
import { retryCommit } from '../engine/history/retry-commit.js';
import type { SnapshotRoot } from '../engine/read/pinned-commit.js';
import { isBehind } from '../engine/sums/build-missing-sum-trees.js';
import { abandonOnError, Ingest } from '../engine/write/ingest.js';
import type { Durability } from '../storage/segment-store.js';

/** Options of a reset. */
export interface ResetOptions {
  readonly durability: Durability;
  /** Whether to drop indexes that the handle does not name. */
  readonly alone: boolean;
}

/**
 * Moves a branch to a stored commit: the commit of a root or a snapshot, or the head of another branch. If that commit
 * has other sum trees than the store was opened with, or indexes to drop, the same commit brings it to the wanted ones.
 * Other indexes are kept; missing ones are built afterwards, alongside other work.
 */
export async function resetTo(
  branchHead: BranchHead,
  target: string | SnapshotRoot,
  options: ResetOptions,
): Promise<void> {
  const { commitBytes, release } = await holdTarget(branchHead, target);
  const change = async () => {
    branchHead.shared.checkOwner(branchHead);
    const { leftovers } = branchHead;
    // Indexes and sum trees that others have made must not come back.
    branchHead.leftovers = { indexes: true, sums: true };
    try {
      await retryCommit(branchHead, async () => {
        const isMoved =
          (await bring(branchHead, commitBytes, options)) ??
          (await move(branchHead, commitBytes, options.durability));
        return isMoved || undefined;
      });
      branchHead.leftovers = { indexes: false, sums: false };
    } catch (cause) {
      branchHead.leftovers = leftovers;
      throw cause;
    }
  };
  await branchHead.exclusively(change).finally(release);
}

async function holdTarget(
  branchHead: BranchHead,
  target: string | SnapshotRoot,
): Promise<HeldCommit> {
  if (typeof target !== 'string' || /^[0-9a-f]{64}$/.test(target)) {
    return holdNamed(branchHead, target);
  }
  return holdBranch(branchHead, target);
}

/** Moves the ref; returns whether it did. */
async function move(
  branchHead: BranchHead,
  commitBytes: Uint8Array,
  durability: Durability,
): Promise<boolean> {
  const { generation } = branchHead.head;
  if (branchHead.isHead(commitBytes) && (durability === 'relaxed' || branchHead.isHeadDurable)) {
    return !(await branchHead.refresh());
  }
  const moved = await branchHead.move(commitBytes, [], { durability });
  if (moved) await branchHead.moveOnto(commitBytes, generation + 1);
  return moved;
}

/**
 * Commits the rows of a commit with the wanted indexes and sum trees; returns whether it did, or `undefined` if it has
 * just these.
 */
async function bring(
  branchHead: BranchHead,
  commitBytes: Uint8Array,
  { durability, alone }: ResetOptions,
): Promise<boolean | undefined> {
  const { host } = branchHead.shared;
  const { engine, indexes } = host;
  const { view, rows } = await branchHead.shared.openView(commitBytes);
  const held = {
    head: { ...branchHead.head, commitBytes, view, rows },
    release: () => engine.closeView(view),
  };
  const drops = alone && indexes.hasOthers(view);
  let ingest: Ingest | undefined;
  try {
    const isForeign = rows > 0 && (await isBehind(host, view, true));
    if (!drops && !isForeign) return undefined;
    await branchHead.shared.prepareIds();
    ingest = new Ingest(host, branchHead, durability, {}, held);
  } finally {
    if (ingest === undefined) held.release();
  }
  const change = ingest;
  return abandonOnError(change, async () => {
    if (drops) change.extendIndexes(true, 0);
    if (host.sums !== undefined) (await sumTreeCalls(host)).extend(change.op);
    const committed = await change.commitOnce();
    if (committed === undefined) await change.abandon();
    return committed !== undefined;
  });
}
