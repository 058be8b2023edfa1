/**
 * No acknowledged commit is lost when a page crashes, the disk is full or connections are lost, in Chromium. `npm run
 * torture` does more of the same. `kills.spec.ts` kills browsers.
 */
import { ENGINES } from '../lib/engines/index.mjs';
import { crashPages, fillDisks, loseConnections } from '../torture/lib/tortures.mjs';
import { expect, test } from './fixtures.js';
import { expectNothingLost, ROWS, seed, torturePage } from './torture-tally.js';

// Browsers start often, on a machine that may be busy.
test.setTimeout(400_000);
// They share no state.
test.describe.configure({ mode: 'parallel' });

test('a page crashed 10 times has lost no commit', { tag: '@chromium' }, async ({
  baseURL,
  engine,
}) => {
  const options = { origin: torturePage(baseURL), seed, rows: ROWS, cycles: 10 };
  const tally = await crashPages(ENGINES[engine], { ...options, durability: 'relaxed' });
  expectNothingLost('crash', tally, 10);
  // Its browser lives on, so no loss is excused.
  expect(tally.losses).toEqual([]);
  expect(tally.wiped).toEqual([]);
});

test('a disk full at 20 places leaves all rows, and the store goes on', {
  tag: '@chromium',
}, async ({ baseURL, engine }) => {
  const found = await fillDisks(ENGINES[engine], { origin: torturePage(baseURL), points: 20 });
  console.log(
    `quota: ${found.points} disks, full at ${found.places} places of the workload; ${found.roomy} had room for all of it`,
  );
  expect(found.problems).toEqual([]);
  expect(found.points).toBe(20);
  expect(found.roomy).toBeLessThan(found.points / 2);
  expect(found.places).toBeGreaterThan(5);
  expect(Object.keys(found.failedIn).sort()).toEqual(['load', 'merge', 'put']);
});

test('a connection lost at every step loses no write', { tag: '@chromium' }, async ({
  baseURL,
  engine,
}) => {
  // Each step in one of five ways; in all of them in `npm run torture`.
  const found = await loseConnections(ENGINES[engine], {
    origin: torturePage(baseURL),
    stride: 5,
  });
  console.log(`disconnect: ${found.runs} runs, ${JSON.stringify(found.codes)}`);
  expect(found.problems).toEqual([]);
  expect(found.steps).toBeGreaterThan(50);
  expect(found.runs).toBeGreaterThanOrEqual(found.steps);
  expect(found.codes.disconnected).toBeGreaterThan(0);
  expect(found.codes.closed).toBeGreaterThan(0);
});
