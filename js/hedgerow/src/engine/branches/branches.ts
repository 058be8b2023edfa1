/** Creates, lists and deletes branches of a store. Loaded at first use. */

import { anything, type OptionsOf, optionsOf } from '../../base/check-options.js';
import { HedgerowError, kindOfError } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import { FORMAT } from '../../base/limits.js';
import { untilWon } from '../../base/pauses.js';
import { parseRoot } from '../../base/root-hash.js';
import type { Durability, RefDrop } from '../../storage/segment-store.js';
import { BranchHead } from '../history/branch-head.js';
import { REMOTE_BRANCHES, refOfBranch } from '../history/branch-name.js';
import {
  findStoredRef,
  firstGeneration,
  forkedFrom,
  forkOf,
  type HeldCommit,
  MUTATORS_REF,
  noBranch,
} from '../history/branch-refs.js';
import { BRANCH_REF, EMPTY_COMMIT, FORK_REF, REF } from '../history/known-segments-and-refs.js';
import { writeRefs } from '../history/ref-write.js';
import { pinnedOf, type SnapshotRoot } from '../read/pinned-commit.js';

/** One branch of a store. */
export interface Branch {
  readonly name: string;
  /** The hash of the branch's head, in hexadecimal. */
  readonly root: string;
  /** The branch that this one was forked from; absent for the main branch, and when the parent was deleted. */
  readonly parent?: string;
  /**
   * The root of the fork from `parent`, or of the last merge between the two: `db.history.diff(base, root)` has the branch's
   * changes since then. No collection deletes its chunks while both branches exist.
   */
  readonly base?: string;
}

const OPEN_OPTIONS = {
  /** The snapshot or root to fork at if no branch has this name; the head by default. */
  from: anything<string | SnapshotRoot>(),
};

/** Options for opening a branch. */
export interface BranchOptions extends OptionsOf<typeof OPEN_OPTIONS> {}

/** Holds the stored commit that a root or a snapshot names. */
export async function holdNamed(
  branchHead: BranchHead,
  target: string | SnapshotRoot,
): Promise<HeldCommit> {
  const pinned = pinnedOf(target);
  if (pinned !== undefined) {
    if (pinned.branchHead.shared !== branchHead.shared) {
      throw new HedgerowError('invalid-argument', 'the snapshot is of another store');
    }
    pinned.check();
    await pinned.holding;
    const { commitBytes } = pinned.head;
    const { release } = await branchHead.shared.hold(commitBytes);
    return { commitBytes, release };
  }
  if (typeof target !== 'string') {
    throw new HedgerowError(
      'invalid-argument',
      'not a root of 64 hexadecimal digits, nor a snapshot of this open store',
    );
  }
  const commitBytes = parseRoot(target);
  const { release } = await branchHead.shared.holdAny(commitBytes);
  return { commitBytes, release };
}

async function holdHead(branchHead: BranchHead): Promise<HeldCommit> {
  const { head, release } = await branchHead.holdHead();
  return { commitBytes: head.commitBytes, release };
}

/**
 * Returns a head on the branch `name`. Creates a missing branch by one small write: at `from`, or at the head of
 * `parent`. `check` throws when the store was closed in the meantime.
 */
export async function openBranch(
  parent: BranchHead,
  name: string,
  options: BranchOptions,
  durability: Durability,
  check: () => void,
): Promise<BranchHead> {
  const ref = refOfBranch(name);
  const { from } = optionsOf('branches.open', options, OPEN_OPTIONS);
  const branchHead = new BranchHead(parent.shared, ref);
  try {
    await moveTo(branchHead, parent, from, durability);
    check();
    return branchHead;
  } catch (cause) {
    branchHead.leave();
    throw cause;
  }
}

/** Moves a new branch head to its branch, and creates a missing branch. */
async function moveTo(
  branchHead: BranchHead,
  parent: BranchHead,
  from: string | SnapshotRoot | undefined,
  durability: Durability,
): Promise<void> {
  const { shared, ref } = branchHead;
  await untilWon(async () => {
    if (ref === REF || shared.inventory.refs.has(ref)) {
      // The ref is known, but another tab may have deleted the branch.
      if (await shared.queueWork(() => branchHead.refresh().then(() => true, isGone))) return true;
    }
    const held = from === undefined ? await holdHead(parent) : await holdNamed(parent, from);
    try {
      const generation = firstGeneration();
      const { commitBytes } = held;
      const move = { name: ref, commitBytes, generation, format: FORMAT, expected: 0 };
      const fork = { ...move, name: forkOf(branchHead.branchName, parent.branchName) };
      const batch = { segments: [], move, also: [fork], durability };
      if (await writeRefs(shared.host.segments, batch)) {
        shared.inventory.noteMoves([move, fork]);
        shared.announce(ref, generation);
        await shared.queueWork(async () => {
          for (const one of shared.branchHeads) if (one.ref === ref) await one.stand(move);
        });
        return true;
      }
    } finally {
      held.release();
    }
    // Another tab has created the branch.
    await findStoredRef(branchHead, ref);
    return undefined;
  });
}

function isGone(cause: unknown): boolean {
  if (kindOfError(cause) === 'not-found/branch') return false;
  throw cause;
}

const LIST_OPTIONS = {
  /** Lists the branches of remotes, too (`remote/...`): the state last seen there, and the work of a running sync. */
  remotes: anything<boolean>(),
};

/** Options for listing branches. */
export interface BranchesOptions extends OptionsOf<typeof LIST_OPTIONS> {}

/** Returns all branches: the main one first, the others by name. */
export async function listBranches(
  branchHead: BranchHead,
  options: BranchesOptions,
): Promise<Branch[]> {
  const { remotes = false } = optionsOf('branches.list', options, LIST_OPTIONS);
  if (typeof remotes !== 'boolean') {
    throw new HedgerowError('invalid-argument', 'branches.list: remotes is a boolean');
  }
  const { shared } = branchHead;
  const refs = await shared.queueWork(() => shared.inventory.look());
  const main = { name: REF, root: hex(refs.get(REF)?.commitBytes ?? EMPTY_COMMIT) };
  const others = [...refs.values()]
    .filter(({ name }) => name.startsWith(BRANCH_REF) && !name.startsWith(MUTATORS_REF))
    .filter(({ name }) => remotes || !name.startsWith(BRANCH_REF + REMOTE_BRANCHES))
    .map((ref) => {
      const name = ref.name.slice(BRANCH_REF.length);
      const fork = forkedFrom(name, refs.values());
      const base = fork && { parent: fork.parent, base: hex(fork.ref.commitBytes) };
      return { name, root: hex(ref.commitBytes), ...base };
    });
  return [main, ...others.sort((a, b) => (a.name < b.name ? -1 : 1))];
}

/** Deletes a branch, and the refs of its forks. */
export async function deleteBranch(
  branchHead: BranchHead,
  name: string,
  durability: Durability,
): Promise<void> {
  const { shared } = branchHead;
  const ref = refOfBranch(name);
  if (ref === REF)
    throw new HedgerowError(
      'invalid-argument',
      `the branch ${REF} cannot be deleted: see clear() and destroy()`,
    );
  const encoded = encodeURIComponent(name);
  const isDropped = (other: string) =>
    other === ref || (other.startsWith(FORK_REF) && other.split('/').includes(encoded, 1));
  await untilWon(async () => {
    const refs = await shared.queueWork(() => shared.inventory.look());
    if (!refs.has(ref)) throw noBranch(name);
    // A collection that reads refs before and after this would miss the branch: see `collect/garbage-collection-run.ts`.
    await shared.endCollections();
    const also = [...refs.values()]
      .filter((other) => isDropped(other.name))
      .map((other): RefDrop => ({ name: other.name, expected: other.generation, isDropped: true }));
    const batch = { segments: [], also, durability };
    if (!(await writeRefs(shared.host.segments, batch))) return undefined;
    shared.announce(ref, Number.POSITIVE_INFINITY);
    await shared.queueWork(async () => {
      for (const one of shared.branchHeads) if (one.ref === ref) await one.keepUp();
    });
    return true;
  });
}
