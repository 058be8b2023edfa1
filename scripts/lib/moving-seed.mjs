// Chooses the seed at which the random tests of a day begin: a number made of the day and the commit, so that a week of
// runs sees more seeds than one run does.

import { createHash } from 'node:crypto';
import { ask, ROOT } from './run.mjs';

const SEEDS = 1_000_000;

/** Returns the seed of a day such as `2026-11-28` and of a commit: from 1 to a million. */
export function seedOf(day, commit) {
  const hash = createHash('sha256').update(`${day} ${commit}`).digest();
  return 1 + (hash.readUInt32BE(0) % SEEDS);
}

/**
 * Returns the seed of the day of `now`, in UTC, and of the commit that is checked out in `cwd`; of the day alone where
 * git or its repository is missing.
 */
export function movingSeed(now = new Date(), cwd = ROOT) {
  const commit = ask('git', ['rev-parse', 'HEAD'], { cwd }) ?? '';
  return seedOf(now.toISOString().slice(0, 10), commit);
}

/** Sets `SEED_BASE` for this process and its children, and prints it, unless it is set. */
export function ensureSeedBase(env = process.env) {
  if (env.SEED_BASE) return;
  env.SEED_BASE = String(movingSeed());
  console.log(`SEED_BASE=${env.SEED_BASE}`);
}
