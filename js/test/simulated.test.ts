/**
 * The simulated store: whatever crashes when, what is left is a commit that was made, with its
 * rows, and not older than promised; or its reader is told which chunk is gone.
 * `SEED=n` runs one seed; `node scripts/simulate.mjs` runs a million, outside of this runner.
 */
import { expect, it } from 'vitest';
import { isOneSeed, runSeed, seedCount, seedsTo } from './property.js';
import { simulate, Tally } from './simulation.js';

const SEEDS = seedCount(4_000);

/** Seeds that found something: a damaged copy of a chunk hid a whole one. */
const FOUND = [28_449, 35_309, 47_230, 24_658, 73_777];
/** About 30 s on a quiet machine. */
const LIMIT_MS = 900_000;

it(
  `after crashes in ${SEEDS} seeds no promise is broken`,
  async () => {
    const seeds = isOneSeed ? seedsTo(1) : [...FOUND, ...seedsTo(SEEDS)];
    const tally = new Tally();
    for (const seed of seeds) await runSeed(seed, () => simulate(seed, tally));
    const facts = Object.entries(tally).map(([name, value]) => `${name} ${value}`);
    console.info(`seeds 1 to ${SEEDS}: ${facts.join(', ')}`);
    expect(tally.seeds).toBe(seeds.length);
    if (isOneSeed) return;
    // Else the simulation no longer simulates.
    expect(tally.processCrashes).toBeGreaterThan(SEEDS / 2);
    expect(tally.powerCrashes).toBeGreaterThan(SEEDS / 2);
    expect(tally.killedTabs).toBeGreaterThan(SEEDS / 10);
    expect(tally.toldOf).toBeGreaterThan(SEEDS / 100);
    expect(tally.rowsRead).toBeGreaterThan(SEEDS);
  },
  LIMIT_MS,
);
