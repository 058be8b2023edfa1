/** Refs of branches: their names, where they were forked, and the commits that they name. */
import { type Commits, isSame } from './commit.js';
import { HedgerowError } from './errors.js';
import { BRANCH_REF, FORK_REF, REF } from './inventory.js';
import { checkKey } from './key.js';
import { MAX_COMMIT_TRIES } from './limits.js';
import type { Hold } from './pins.js';
import type { Ref } from './segment-store.js';

/** A commit that stays whole until it is released. */
export interface HeldCommit extends Hold {
  readonly commitBytes: Uint8Array;
}

/** The name of the ref of a branch; throws when it cannot be one. */
export function refOfBranch(name: string): string {
  try {
    checkKey(name);
    if (name !== '') return name === REF ? REF : BRANCH_REF + name;
  } catch {}
  throw new HedgerowError(
    'invalid-argument',
    'the name of a branch is a string of 1 to 1024 bytes',
  );
}

/** The ref that tells where `one` was forked from `parent`, or last merged with it. */
export function forkOf(one: string, parent: string): string {
  const [a, b] = [one, parent].map(encodeURIComponent);
  return `${FORK_REF}${a}/${b}`;
}

/** The error for a branch that is not there. */
export function noBranch(name: string): HedgerowError {
  return new HedgerowError('missing', `there is no branch ${name}`);
}

/**
 * The first generation of a ref. Another one for each ref of a name: nobody may take it for one
 * that was deleted, and where that stood.
 */
export function firstGeneration(): number {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return (random >>> 1) * 2 ** 20 + 1;
}

/** Where the ref `name` stands, or `undefined`. */
export async function lookFor({ trunk }: Commits, name: string): Promise<Ref | undefined> {
  const refs = await trunk.queued(() => trunk.inventory.look());
  return refs.get(name);
}

/** Holds the head of another branch. */
export async function holdBranch(commits: Commits, name: string): Promise<HeldCommit> {
  const ref = refOfBranch(name);
  for (let tries = 0; tries < MAX_COMMIT_TRIES; tries++) {
    const found = await lookFor(commits, ref);
    if (found === undefined && ref !== REF) throw noBranch(name);
    const commitBytes = found?.commitBytes ?? new Uint8Array(32);
    const { release } = await commits.trunk.hold(commitBytes);
    // It is whole if it is the head still: see `collector.ts`.
    const again = await lookFor(commits, ref);
    if (isSame(again?.commitBytes ?? new Uint8Array(32), commitBytes)) {
      return { commitBytes, release };
    }
    release();
  }
  throw new HedgerowError('conflict', `the branch ${name} moves on and on`);
}
