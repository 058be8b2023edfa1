/**
 * The simulation of full storage is sensitive: it loses rows when the requests of a transaction are all made at once.
 */
import { expect, it, vi } from 'vitest';
import { isDeep } from '../support/property.js';
import { FullTally, simulateFull } from '../support/worlds/full-simulation.js';

type Transactions = typeof import('../../src/storage/idb/idb-transaction.js');

vi.mock('../../src/storage/idb/idb-transaction.js', async (original) => ({
  ...(await original<Transactions>()),
  inTurn: ((_work, steps, then) => {
    for (const step of steps) step();
    then();
  }) as Transactions['inTurn'],
}));

const MOST_SEEDS = 1000;
/** The signs of lost rows. The last sign takes a hundred seeds to appear. */
const SIGNS = isDeep ? ['missing-chunk', 'has no segment'] : ['missing-chunk'];

it('the simulation detects requests that are made before earlier ones have succeeded', async () => {
  const tally = new FullTally();
  const found = new Map<string, number>();
  const isFound = (sign: string) => [...found.keys()].some((kind) => kind.includes(sign));
  let seed = 0;
  while (seed < MOST_SEEDS && !SIGNS.every(isFound)) {
    seed += 1;
    await simulateFull(seed, tally).catch((cause: unknown) => {
      const kind = String(cause).replace(/[0-9a-f]{64}|\d+/g, '#');
      found.set(kind, (found.get(kind) ?? 0) + 1);
    });
  }
  const kinds = [...found].map(([kind, count]) => `${count} x ${kind}`);
  console.info(`full storage, requests made at once, ${seed} seeds: ${kinds.join('; ')}`);
  expect(SIGNS.filter((sign) => !isFound(sign))).toEqual([]);
});
