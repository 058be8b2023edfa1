import { parseRoot } from '../../base/root-hash.js';
import type { Pins } from './pins.js';

const ROOT = /^[0-9a-f]{64}$/;

/** The data that a collection must keep because handles use them. */
export interface InUse {
  /** Hashes of commits. */
  readonly commits: readonly Uint8Array[];
  readonly writers: readonly number[];
  /** Whether a tab that lost the role may use commits without pins: see `collector-role.ts`. */
  readonly hasStrangers: boolean;
}

/** Lists what this handle uses, and what the others announce by locks, for a collection that began in `term`. */
export async function inUse(
  { locks, prefix, role, uses, writers }: Pins,
  term: object | undefined,
): Promise<InUse> {
  const own = [...uses].map(({ commitBytes }) => commitBytes);
  const ownWriters = [...writers.keys()];
  if (locks === undefined || role === undefined) {
    return { commits: own, writers: ownWriters, hasStrangers: false };
  }
  const { held = [] } = await locks.query();
  const after = (start: string) => {
    const names = held
      .map(({ name = '' }) => name)
      .filter((name) => name.startsWith(prefix + start));
    return names.map((name) => name.slice(prefix.length + start.length));
  };
  return {
    commits: [
      ...own,
      ...after('pin/')
        .filter((root) => ROOT.test(root))
        .map(parseRoot),
    ],
    writers: [...ownWriters, ...after('writer/').map(Number)],
    hasStrangers: role.hasStrangers(held, term),
  };
}
