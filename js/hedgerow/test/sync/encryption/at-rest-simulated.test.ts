/**
 * The simulated store, encrypted: crashes and torn bytes have the same reports as in a plain store. `SEED=n` runs one
 * seed.
 */
import { expect, it } from 'vitest';
import { forSeeds, hasAllSeeds } from '../../support/property.js';
import { simulateSealed, Tally } from '../../support/worlds/at-rest-simulation.js';

const SEEDS = 600;

it('an encrypted store keeps its promises after crashes', async () => {
  const tally = new Tally();
  const seeds = await forSeeds(SEEDS, (_, seed) => simulateSealed(seed, tally));
  const facts = Object.entries(tally).map(([name, value]) => `${name} ${value}`);
  console.info(`${seeds.length} seeds, encrypted: ${facts.join(', ')}`);
  expect(tally.seeds).toBe(seeds.length);
  if (!hasAllSeeds(SEEDS)) return;
  // Otherwise the simulation does not crash any store.
  expect(tally.processCrashes).toBeGreaterThan(SEEDS / 2);
  expect(tally.powerCrashes).toBeGreaterThan(SEEDS / 2);
  expect(tally.toldOf).toBeGreaterThan(SEEDS / 100);
  expect(tally.rowsRead).toBeGreaterThan(SEEDS);
});
