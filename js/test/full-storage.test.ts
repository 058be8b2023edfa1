/**
 * Storage that is full, on an engine that applies a part of what it aborts: nothing acknowledged is
 * lost. `SEED=n` runs one seed; `node scripts/simulate.mjs --only full` runs a million.
 */
import { expect, it } from 'vitest';
import { FullTally, simulateFull } from './full-simulation.js';

const SEEDS = Number(process.env.SEEDS ?? 1_000);
const HOUR = 3_600_000;

it(
  `of ${SEEDS} seeds of storage that fills up none loses a row`,
  async () => {
    const only = Number(process.env.SEED);
    const seeds = only > 0 ? [only] : Array.from({ length: SEEDS }, (_, at) => at + 1);
    const tally = new FullTally();
    for (const seed of seeds) {
      await simulateFull(seed, tally).catch((cause: unknown) => {
        throw new Error(`SEED=${seed}: ${cause}`, { cause });
      });
    }
    const facts = Object.entries(tally).map(([name, value]) => `${name} ${value}`);
    console.info(`full storage, seeds 1 to ${SEEDS}: ${facts.join(', ')}`);
    expect(tally.seeds).toBe(seeds.length);
    if (only > 0) return;
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
