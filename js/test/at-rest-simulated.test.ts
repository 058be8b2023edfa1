/**
 * The simulated store, encrypted: what a crash leaves, and bytes that it tears, are told as they are of a plain one.
 * `SEED=n` runs one seed.
 */
import { expect, it } from 'vitest';
import { simulateSealed, Tally } from './at-rest-simulation.js';
import { isOneSeed, runSeed, seedCount, seedsTo } from './property.js';

const SEEDS = seedCount(600);

it(`after crashes of encrypted stores in ${SEEDS} seeds no promise is broken`, {
  timeout: 900_000,
}, async () => {
  const seeds = seedsTo(isOneSeed ? 1 : SEEDS);
  const tally = new Tally();
  for (const seed of seeds) await runSeed(seed, () => simulateSealed(seed, tally));
  const facts = Object.entries(tally).map(([name, value]) => `${name} ${value}`);
  console.info(`seeds 1 to ${SEEDS}, encrypted: ${facts.join(', ')}`);
  expect(tally.seeds).toBe(seeds.length);
  if (isOneSeed) return;
  // Else the simulation no longer simulates.
  expect(tally.processCrashes).toBeGreaterThan(SEEDS / 2);
  expect(tally.powerCrashes).toBeGreaterThan(SEEDS / 2);
  expect(tally.toldOf).toBeGreaterThan(SEEDS / 100);
  expect(tally.rowsRead).toBeGreaterThan(SEEDS);
});
