/** The refs of branches: the forks, and the commits that they name. Loaded with the parts that use them. */

import { sameBytes } from '../../base/bytes.js';
import { HedgerowError } from '../../base/errors.js';
import { FORMAT } from '../../base/limits.js';
import { untilWon } from '../../base/pauses.js';
import type { Ref, RefMove } from '../../storage/segment-store.js';
import type { Hold } from '../../storage/tabs/pins.js';
import type { BranchHead } from './branch-head.js';
import { refOfBranch } from './branch-name.js';
import { BRANCH_REF, EMPTY_COMMIT, FORK_REF, REF } from './known-segments-and-refs.js';

/** The prefix of the refs that mutators keep for their server. They name commits, but no branches of the app. */
export const MUTATORS_REF = `${BRANCH_REF}mutators/`;

/** A commit whose chunks all stay stored until it is released. */
export interface HeldCommit extends Hold {
  readonly commitBytes: Uint8Array;
}

/** Returns the ref that names the commit of the fork of `one` from `parent`, or of their last merge. */
export function forkOf(one: string, parent: string): string {
  const [a, b] = [one, parent].map(encodeURIComponent);
  return `${FORK_REF}${a}/${b}`;
}

/** Finds the fork of a branch among `refs`; `undefined` for the main branch, and if the parent was deleted. */
export function forkedFrom(
  one: string,
  refs: Iterable<Ref>,
): { readonly parent: string; readonly ref: Ref } | undefined {
  const start = forkOf(one, '');
  for (const ref of refs) {
    if (!ref.name.startsWith(start)) continue;
    return { parent: decodeURIComponent(ref.name.slice(start.length)), ref };
  }
  return undefined;
}

/** Makes the error for a branch that does not exist. */
export function noBranch(name: string): HedgerowError {
  return new HedgerowError('not-found/branch', `there is no branch ${name}`);
}

/**
 * Returns the first generation of a ref: a random number, so that no tab takes the ref for a deleted ref of the same
 * name.
 */
export function firstGeneration(): number {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return (random >>> 1) * 2 ** 20 + 1;
}

/** Reads the ref `name` from storage; `undefined` if it does not exist. */
export async function findStoredRef(
  { shared }: BranchHead,
  name: string,
): Promise<Ref | undefined> {
  const refs = await shared.queueWork(() => shared.inventory.look());
  return refs.get(name);
}

/** Holds the head of another branch. */
export async function holdBranch(branchHead: BranchHead, name: string): Promise<HeldCommit> {
  const ref = refOfBranch(name);
  return untilWon(async () => {
    const found = await findStoredRef(branchHead, ref);
    if (found === undefined && ref !== REF) throw noBranch(name);
    const commitBytes = found?.commitBytes ?? EMPTY_COMMIT;
    const { release } = await branchHead.shared.hold(commitBytes);
    // All chunks of the commit are stored if it is still the head: see `tabs/pins.ts`.
    const again = await findStoredRef(branchHead, ref);
    if (sameBytes(again?.commitBytes ?? EMPTY_COMMIT, commitBytes)) {
      return { commitBytes, release };
    }
    release();
    return undefined;
  }, `the branch ${name} moved while it was read`);
}

/** The change to merge: from `baseBytes` to `theirsBytes`, both held. */
export interface Sides extends Hold {
  readonly baseBytes: Uint8Array;
  readonly theirsBytes: Uint8Array;
  /** The refs that move with the commit. */
  readonly also: readonly RefMove[];
}

/** Holds the last common ancestor; the caller holds the branch. */
export async function holdSides(
  branchHead: BranchHead,
  name: string,
  theirsBytes: Uint8Array,
): Promise<Sides | undefined> {
  const { shared, inventory } = branchHead;
  const ref = refOfFork(branchHead, name);
  const { release } = await shared.hold(ref.commitBytes);
  // All chunks of the commit are stored if it is still the ancestor: see `tabs/pins.ts`.
  const refs = await shared.queueWork(() => inventory.look());
  const { generation: expected } = ref;
  if (refs.get(ref.name)?.generation === expected) {
    const next = { name: ref.name, commitBytes: theirsBytes, generation: expected + 1 };
    const also = [{ ...next, format: FORMAT, expected }];
    return { baseBytes: ref.commitBytes, theirsBytes, also, release };
  }
  release();
  return undefined;
}

/** Returns the ref of the last common ancestor, as last read. */
function refOfFork({ inventory, branchName }: BranchHead, name: string): Ref {
  const { refs } = inventory;
  const fork = refs.get(forkOf(name, branchName)) ?? refs.get(forkOf(branchName, name));
  if (fork !== undefined) return fork;
  const message = `cannot merge: neither of ${branchName} and ${name} was forked from the other`;
  throw new HedgerowError('invalid-argument', message);
}
