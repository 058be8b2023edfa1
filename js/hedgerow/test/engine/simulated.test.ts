/**
 * The simulated store: whatever crashes when, the store ends at a whole commit that was made and is not older than
 * promised, or its reader learns which chunk is gone. `SEED=n` runs one seed; `node scripts/long/simulate.mjs` runs a
 * million, outside of this runner.
 */
import { expect, it } from 'vitest';
import { forSeeds, hasAllSeeds, runSeed } from '../support/property.js';
import { simulate, Tally } from '../support/worlds/crash-simulation.js';

const SEEDS = 4_000;

/** Seeds that found a bug: a damaged copy of a chunk hid a whole one. */
const FOUND = [28_449, 35_309, 47_230, 24_658, 73_777];

it('no crash breaks a promise', async () => {
  const tally = new Tally();
  const run = (_: unknown, seed: number) => simulate(seed, tally);
  for (const seed of FOUND) await runSeed(seed, run);
  const seeds = await forSeeds(SEEDS, run);
  const facts = Object.entries(tally).map(([name, value]) => `${name} ${value}`);
  console.info(`${seeds.length} seeds: ${facts.join(', ')}`);
  expect(tally.seeds).toBe(FOUND.length + seeds.length);
  if (!hasAllSeeds(SEEDS)) return;
  // Otherwise the simulation does not simulate.
  expect(tally.processCrashes).toBeGreaterThan(SEEDS / 2);
  expect(tally.powerCrashes).toBeGreaterThan(SEEDS / 2);
  expect(tally.killedTabs).toBeGreaterThan(SEEDS / 10);
  expect(tally.toldOf).toBeGreaterThan(SEEDS / 100);
  expect(tally.rowsRead).toBeGreaterThan(SEEDS);
});
