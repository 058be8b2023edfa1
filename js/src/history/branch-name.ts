import { HedgerowError } from '../base/errors.js';
import { checkKey } from '../base/key.js';
import { BRANCH_REF, REF } from './inventory.js';

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
