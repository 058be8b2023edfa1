import { HedgerowError } from '../../base/errors.js';
import { checkKey } from '../../base/key.js';
import { BRANCH_REF, REF } from './inventory.js';

/** Begins the names of the branches that sync keeps of remotes. */
export const REMOTE_BRANCHES = 'remote/';

/** Ends the names of the branches that have the logs of conflicts. */
export const CONFLICTS_END = '/conflicts';

/** The name of a branch's ref; throws `invalid-argument` if `name` cannot be a branch's. */
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
