/**
 * Moves a branch to a commit that is stored: a root's, a snapshot's, or the head of another branch. Where that commit
 * has other indexes or sum trees than the store was opened with, it is brought to those in the same commit; indexes
 * that it lacks are made after that, beside other work.
 */
import { type HeldCommit, holdBranch } from './branch-refs.js';
import { holdNamed } from './branches.js';
import { type Commits, UnknownOutcome } from './commit.js';
import { guarded, Ingest } from './ingest.js';
import type { Pinned } from './pinned-commit.js';
import type { Durability } from './segment-store.js';
import { isBehind } from './sums/follow.js';
import { sumEngine } from './sums/sum-engine.js';

/** How it is moved. */
export interface ResetOptions {
  readonly durability: Durability;
  /** Indexes that the store was not opened with are dropped. */
  readonly alone: boolean;
}

/** See the module's text. */
export async function resetTo(
  commits: Commits,
  target: string | Pinned,
  options: ResetOptions,
): Promise<void> {
  const { commitBytes, release } = await holdTarget(commits, target);
  const change = async () => {
    const { leftovers } = commits;
    // What others have made is not to come back.
    commits.leftovers = { indexes: true, sums: true };
    try {
      await commits.retry(async () => {
        const isMoved =
          (await bring(commits, commitBytes, options)) ??
          (await move(commits, commitBytes, options.durability));
        return isMoved || undefined;
      });
      commits.leftovers = { indexes: false, sums: false };
    } catch (cause) {
      commits.leftovers = leftovers;
      throw cause;
    }
  };
  await commits.exclusively(change).finally(release);
}

async function holdTarget(commits: Commits, target: string | Pinned): Promise<HeldCommit> {
  if (typeof target !== 'string' || /^[0-9a-f]{64}$/.test(target)) {
    return holdNamed(commits, target);
  }
  return holdBranch(commits, target);
}

/** Moves the ref; whether it did. */
async function move(
  commits: Commits,
  commitBytes: Uint8Array,
  durability: Durability,
): Promise<boolean> {
  const { generation } = commits.head;
  if (commits.isHead(commitBytes) && (durability === 'relaxed' || commits.isHeadDurable)) {
    return !(await commits.refresh());
  }
  const moved = await commits.move(commitBytes, [], { durability }).catch((cause: unknown) => {
    throw cause instanceof UnknownOutcome ? cause.cause : cause;
  });
  if (moved) await commits.moveOnto(commitBytes, generation + 1);
  return moved;
}

/**
 * Commits what is stored there with the indexes and sum trees that are wanted; whether it did. `undefined` when it
 * has just those.
 */
async function bring(
  commits: Commits,
  commitBytes: Uint8Array,
  { durability, alone }: ResetOptions,
): Promise<boolean | undefined> {
  const { host } = commits.trunk;
  const { engine, indexes } = host;
  const { view, rows } = await commits.openView(commitBytes);
  const held = {
    head: { ...commits.head, commitBytes, view, rows },
    release: () => engine.closeView(view),
  };
  const drops = alone && indexes.hasOthers(view);
  let ingest: Ingest | undefined;
  try {
    const isForeign = rows > 0 && (await isBehind(host, view, true));
    if (!drops && !isForeign) return undefined;
    await commits.prepareIds();
    ingest = new Ingest(host, commits, durability, {}, held);
  } finally {
    if (ingest === undefined) held.release();
  }
  const change = ingest;
  return guarded(change, async () => {
    if (drops) change.extendIndexes(true, 0);
    if (host.sums !== undefined) (await sumEngine(host)).extend(change.op);
    const committed = await change.commitOnce();
    if (committed === undefined) await change.abandon();
    return committed !== undefined;
  });
}
