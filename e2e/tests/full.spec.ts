/**
 * Real browsers at their quotas: nothing that was acknowledged is lost when writing goes on after storage
 * was full, and a full store can be emptied. `npm run torture -- --only full` does more of the same.
 */
import { expect, test } from '@playwright/test';
import { installed } from '../lib/engines/index.mjs';
import { fillEngine } from '../torture/lib/tortures.mjs';

/** The first run of a browser has a large store; both are emptied in the end, by even seeds. */
const RUNS = 2;
// They share nothing.
test.describe.configure({ mode: 'parallel' });

for (const engine of installed()) {
  test(`${engine.name} at its quota loses no row, and is emptied`, async ({ baseURL }) => {
    test.setTimeout(400_000);
    const seed = 2 * (Date.now() % 2 ** 30);
    const origin = new URL('/torture.html', baseURL).href;
    const found = await fillEngine(engine, { origin, seed, runs: RUNS });
    console.log(
      `full, ${found.version}, seed ${seed}: ${found.acknowledged} rows, ${found.refused} changes ` +
        `refused, ${found.made} made since, the slowest refusal ${found.slowestMs} ms`,
    );
    expect(found.problems).toEqual([]);
    expect(found.runs).toBe(RUNS);
    expect(found.refused).toBeGreaterThan(RUNS);
    // Told by the error of the request, without a wait for another connection.
    expect(Object.keys(found.emptied)).toContain('clear right');
  });
}
