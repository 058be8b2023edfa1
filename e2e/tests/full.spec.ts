/**
 * The engine of the project at its quota: no acknowledged row is lost when writing goes on after storage was full, and
 * a full store can be emptied. `npm run torture -- --only full` does more of the same.
 */
import { ENGINES } from '../lib/engines/index.mjs';
import { fillEngine } from '../torture/lib/tortures.mjs';
import { expect, test } from './fixtures.js';
import { timesOf } from './sizes.js';
import { seed, torturePage } from './torture-tally.js';

/** The first run has a large store, and empties it in the end, since its seed is even. */
const RUNS = timesOf(1, 2);

test('an engine at its quota loses no row, and is emptied', { tag: '@core' }, async ({
  baseURL,
  engine,
}) => {
  test.setTimeout(400_000);
  const even = 2 * Math.floor(seed / 2);
  const found = await fillEngine(ENGINES[engine], {
    origin: torturePage(baseURL),
    seed: even,
    runs: RUNS,
  });
  console.log(
    `full, ${found.version}, seed ${even}: ${found.acknowledged} rows, ${found.refused} changes ` +
      `refused, ${found.made} made since, the slowest refusal ${found.slowestMs} ms`,
  );
  expect(found.problems).toEqual([]);
  expect(found.runs).toBe(RUNS);
  // The request itself fails, without a wait for another connection.
  expect(Object.keys(found.emptied)).toContain('clear right');
});
