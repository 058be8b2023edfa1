/**
 * `kill -9` of a whole browser while a page commits, in the engine of the project: all acknowledged commits are there
 * after the next launch, except what a raw IndexedDB database in the same origin has lost; no commit is torn, and
 * `verify` finds no fault. `npm run torture -- --only kill --engines firefox` does more of the same.
 */
import { ENGINES } from '../lib/engines/index.mjs';
import { killEngine } from '../torture/lib/tortures.mjs';
import { test } from './fixtures.js';
import { timesOf } from './sizes.js';
import { expectNothingLost, ROWS, seed, torturePage } from './torture-tally.js';

const CYCLES = timesOf(2, 10);
/** Cycles differ in what is killed: a short run covers others each time. */
const FIRST = seed % 5;

test('an engine that is killed has lost no more than the control', { tag: '@core' }, async ({
  baseURL,
  engine,
}) => {
  // Three launches a cycle, on a machine that may be busy.
  test.setTimeout(600_000);
  const options = { origin: torturePage(baseURL), seed, rows: ROWS, cycles: CYCLES, first: FIRST };
  const tally = await killEngine(ENGINES[engine], { ...options, durability: 'relaxed' });
  expectNothingLost('kill', tally, CYCLES, FIRST);
});
