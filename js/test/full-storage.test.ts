/**
 * Storage that is full, on an engine that applies a part of what it aborts: nothing acknowledged is
 * lost. `SEED=n` runs one seed; `node scripts/simulate.mjs --only full` runs a million.
 */
import { expect, it } from 'vitest';
import { FullTally, simulateFull } from './full-simulation.js';
import { forSeeds, isOneSeed, seedCount } from './property.js';

const SEEDS = seedCount(400);
const HOUR = 3_600_000;

it(
  `of ${SEEDS} seeds of storage that fills up none loses a row`,
  async () => {
    const tally = new FullTally();
    await forSeeds(SEEDS, (_, seed) => simulateFull(seed, tally));
    const facts = Object.entries(tally).map(([name, value]) => `${name} ${value}`);
    console.info(`full storage, seeds 1 to ${SEEDS}: ${facts.join(', ')}`);
    expect(tally.seeds).toBe(isOneSeed ? 1 : SEEDS);
    if (isOneSeed) return;
    // Else the simulation no longer simulates.
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
