// Runs real browsers at their quotas: a page fills its storage, goes on, empties it; the browser is closed or killed,
// and its next start checks that all acknowledged rows are there.

import { callWithin, withPage } from './driver.mjs';
import { withProfiles } from './profiles.mjs';
import { below, randomFrom } from './random.mjs';

const MOST_MS = 240_000;
const MIB = 1 << 20;
/** Ballast records with which stores of these sizes could always be emptied. */
const ENOUGH = 5;

/** Fills the storage of an engine `runs` times; `show` gets the progress. */
export function fillEngine(engine, options) {
  return withProfiles(engine, (profiles) => fillOnProfiles({ engine, profiles, ...options }));
}

async function fillOnProfiles({ engine, profiles, origin, seed, runs, changes = 120, show }) {
  const random = randomFrom(seed);
  const found = {
    engine: engine.name,
    version: '',
    runs: 0,
    kills: 0,
    acknowledged: 0,
    refused: 0,
    made: 0,
    slowestMs: 0,
    codes: {},
    emptied: {},
    /** The records of large stores' ballasts before emptying. */
    ballasts: [],
    problems: [],
  };
  for (let run = 0; run < runs; run++) {
    // Where only the length of a file counts, as in WebKit, emptying a store takes a ballast of some size.
    const isLarge = run % 4 === 0;
    const quotaBytes = (9 + below(random, 8) + (isLarge ? 90 : 0)) * MIB;
    const loadBytes = isLarge ? quotaBytes - 14 * MIB : 0;
    const plan = { store: 'full', seed: seed + run, changes, loadBytes };
    const isKilled = below(random, 4) === 0;
    const name = `${engine.name}, seed ${plan.seed}, ${quotaBytes / MIB} MiB`;
    show?.(`${name}, ${run + 1} of ${runs}; problems ${found.problems.length}`);
    const profileDir = await profiles.make();
    try {
      const job = { engine, origin, profileDir, quotaBytes, plan, isKilled };
      await fillOnce(job, name, found);
      found.runs += 1;
      if (isKilled) found.kills += 1;
    } catch (cause) {
      found.problems.push(`${name}: ${cause.message}`);
    } finally {
      await profiles.remove(profileDir);
    }
  }
  return found;
}

async function fillOnce({ engine, origin, profileDir, quotaBytes, plan, isKilled }, name, found) {
  const where = { url: origin, profileDir, quotaBytes };
  const filled = await withPage(engine, { ...where, isKilled }, (page) =>
    callWithin(MOST_MS, page, 'fillUp', plan),
  );
  found.version = filled.version;
  const { rows, unsure, problems, codes, emptied, ballast } = filled.result;
  found.problems.push(...problems.map((problem) => `${name}: ${problem}`));
  found.problems.push(...filled.uncaught.map((error) => `${name}: uncaught ${error}`));
  found.acknowledged += rows.length;
  found.refused += filled.result.refused;
  found.made += filled.result.made;
  found.slowestMs = Math.max(found.slowestMs, Math.round(filled.result.slowestMs));
  add(found.codes, Object.entries(codes));
  add(
    found.emptied,
    emptied.map((ending) => [ending, 1]),
  );
  if (plan.loadBytes > 0 && emptied.length > 0) found.ballasts.push(ballast);
  found.problems.push(...refusals(engine, ballast, emptied).map((ending) => `${name}: ${ending}`));
  const checked = await withPage(engine, where, (page) =>
    callWithin(MOST_MS, page, 'checkFull', plan, { rows, unsure }),
  );
  found.problems.push(...checked.result.map((problem) => `${name}, reopened: ${problem}`));
}

/**
 * Lists refusals during emptying that should not have been. No engine frees all the space of deleted rows while it runs
 * (`docs/reliability.md`): puts must find room when all rows are gone, and may before. WebKit counts the length of a
 * database's file, which no deletion makes shorter: there deletions find room where there is a ballast. A store has one
 * from some size on, and changes at the quota use up a random part of it.
 */
function refusals({ name }, ballast, emptied) {
  if (name === 'webkit' && ballast < ENOUGH) return [];
  const may = (ending) => ending.endsWith(' right') || ending === 'put quota-exceeded';
  return emptied.filter((ending) => !may(ending)).map((ending) => `in emptying: ${ending}`);
}

function add(counts, entries) {
  for (const [name, count] of entries) counts[name] = (counts[name] ?? 0) + count;
}
