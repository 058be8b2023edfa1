/**
 * Nothing that was acknowledged is lost, whatever a real browser does to a store. `npm run torture`
 * does more of the same; a seed that is printed here brings the same moments again there.
 */
import { expect, test } from '@playwright/test';
import {
  crashPages,
  fillDisks,
  killBrowsers,
  loseConnections,
  makeProfiles,
  type Profiles,
  type Tally,
} from '../torture/lib/tortures.mjs';

const ROWS = 6000;
const seed = Date.now() % 2 ** 31;
let profiles: Profiles;

// Browsers start sixty times, on a machine that may be busy.
test.setTimeout(400_000);
// They share nothing.
test.describe.configure({ mode: 'parallel' });

test.beforeAll(async () => {
  profiles = await makeProfiles();
});

test.afterAll(async () => {
  await profiles.end();
});

function origin(baseURL: string | undefined): string {
  return new URL('/torture.html', baseURL).href;
}

function expectNothingLost(name: string, cycles: number, tally: Tally): void {
  const { lost, lostMore, torn, acknowledged, midCommit, wiped } = tally;
  console.log(
    `${name}, seed ${seed}: ${cycles} cycles, ${midCommit} in mid-commit, ${acknowledged} ` +
      `acknowledged; lost ${lost.hedgerow}, by the control ${lost.control}; torn ${torn.hedgerow}; ` +
      `origin wiped ${wiped.length}`,
  );
  expect(tally.blamed).toEqual([]);
  expect({ lostMore, torn: torn.hedgerow, cycles: tally.cycles }).toEqual({
    lostMore: 0,
    torn: 0,
    cycles,
  });
  // The checks have seen something to lose.
  expect(acknowledged).toBeGreaterThan(cycles);
  expect(midCommit).toBeGreaterThan(cycles / 4);
}

test('a browser killed 20 times has lost no more than the control', async ({ baseURL }) => {
  const options = { origin: origin(baseURL), profiles, seed, rows: ROWS, cycles: 20 };
  expectNothingLost('kill', 20, await killBrowsers({ ...options, durability: 'relaxed' }));
});

test('a page crashed 10 times has lost nothing', async ({ baseURL }) => {
  const options = { origin: origin(baseURL), profiles, seed, rows: ROWS, cycles: 10 };
  const tally = await crashPages({ ...options, durability: 'relaxed' });
  expectNothingLost('crash', 10, tally);
  // Its browser lives on: there is nothing to be forgiven.
  expect(tally.losses).toEqual([]);
  expect(tally.wiped).toEqual([]);
});

test('a disk full at 20 places leaves what was there, and goes on', async ({ baseURL }) => {
  const found = await fillDisks({ origin: origin(baseURL), profiles, points: 20 });
  console.log(
    `quota: ${found.points} disks, full at ${found.places} places of the workload; ${found.roomy} had room for all of it`,
  );
  expect(found.problems).toEqual([]);
  expect(found.points).toBe(20);
  expect(found.roomy).toBeLessThan(found.points / 2);
  expect(found.places).toBeGreaterThan(5);
  expect(Object.keys(found.failedIn).sort()).toEqual(['load', 'merge', 'put']);
});

test('a connection lost at every step loses no write', async ({ baseURL }) => {
  // Each step in one of five ways; in all of them in `npm run torture`.
  const found = await loseConnections({ origin: origin(baseURL), profiles, stride: 5 });
  console.log(`disconnect: ${found.runs} runs, ${JSON.stringify(found.codes)}`);
  expect(found.problems).toEqual([]);
  expect(found.steps).toBeGreaterThan(50);
  expect(found.runs).toBeGreaterThanOrEqual(found.steps);
  expect(found.codes.disconnected).toBeGreaterThan(0);
  expect(found.codes.closed).toBeGreaterThan(0);
});
