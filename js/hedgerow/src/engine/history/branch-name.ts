import { HedgerowError } from '../../base/errors.js';
import { checkKey } from '../../base/key.js';
import { BRANCH_REF, REF } from './known-segments-and-refs.js';

/** The prefix of the names of the branches that sync keeps for remotes. */
export const REMOTE_BRANCHES = 'remote/';

/** The suffix of the names of the branches that have the logs of conflicts. */
export const CONFLICTS_END = '/conflicts';

/** Returns the name of a branch's ref; throws `invalid-argument` if `name` cannot name a branch. */
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
