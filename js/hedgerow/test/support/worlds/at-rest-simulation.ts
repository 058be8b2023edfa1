/** The encrypted simulated store. It does not use Vitest, so `scripts/long/simulate.mjs` can run it by the million. */
import { simulate, Tally } from './crash-simulation.js';

export { Tally };

export const simulateSealed = (seed: number, tally: Tally): Promise<void> =>
  simulate(seed, tally, true);
