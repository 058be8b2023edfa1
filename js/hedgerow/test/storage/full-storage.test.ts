/**
 * Full storage, on an engine that applies a part of an aborted transaction: no acknowledged row is lost. `SEED=n` runs
 * one seed; `node scripts/long/simulate.mjs --only full` runs a million.
 */
import { expect, it } from 'vitest';
import { forSeeds, hasAllSeeds } from '../support/property.js';
import { FullTally, simulateFull } from '../support/worlds/full-simulation.js';

const SEEDS = 400;
const HOUR = 3_600_000;

it(
  'storage that fills up loses no row',
  async () => {
    const tally = new FullTally();
    const seeds = await forSeeds(SEEDS, (_, seed) => simulateFull(seed, tally));
    const facts = Object.entries(tally).map(([name, value]) => `${name} ${value}`);
    console.info(`full storage, ${seeds.length} seeds: ${facts.join(', ')}`);
    expect(tally.seeds).toBe(seeds.length);
    if (!hasAllSeeds(SEEDS)) return;
    // Otherwise the simulation does not simulate.
    expect(tally.quotaAborts).toBeGreaterThan(SEEDS);
    expect(tally.refused).toBeGreaterThan(SEEDS);
    expect(tally.partial).toBeGreaterThan(SEEDS / 100);
    expect(tally.falselyComplete).toBeGreaterThan(SEEDS / 200);
    expect(tally.ballasts).toBeGreaterThan(SEEDS / 20);
    expect(tally.lostConnections).toBeGreaterThan(SEEDS / 20);
    expect(tally.rowsRead).toBeGreaterThan(SEEDS);
  },
  HOUR,
);
