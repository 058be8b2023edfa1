// Loses the connection to IndexedDB at every step of a workload: once, and several times in a row; and makes the
// browser close connections by force, or delete the data under an open store.

import { call, withPage } from './driver.mjs';
import { withProfiles } from './profiles.mjs';

/** The number of losses in a row, and how a store hears of them. */
const WAYS = [
  [1, 'at once'],
  [1, 'later'],
  [4, 'at once'],
  [1000, 'later'],
  [1, 'deleted'],
];

/**
 * Loses connections in each way at every `stride`-th step; the ways start at different steps. `show` gets the progress.
 */
export function loseConnections(engine, { origin, ...options }) {
  return withProfiles(engine, async (profiles) => {
    const found = { engine: engine.name, runs: 0, steps: 0, ways: {}, codes: {}, problems: [] };
    const where = { profileDir: await profiles.make(), url: origin };
    const lose = (page) => loseIn(page, found, options);
    const { uncaught, version } = await withPage(engine, where, lose);
    found.problems.push(...uncaught.map((error) => `unhandled: ${error}`));
    return { ...found, version };
  });
}

async function loseIn(page, found, { stride, show }) {
  const run = async (from, times, how) => {
    const one = await call(page, 'disconnectAt', from, times, how);
    found.runs += 1;
    for (const [code, count] of Object.entries(one.codes)) {
      found.codes[code] = (found.codes[code] ?? 0) + count;
    }
    const where = `lost at step ${from}, ${times} in a row, told ${how}`;
    found.problems.push(...one.problems.map((problem) => `${where}: ${problem}`));
    return one;
  };
  // Without losses all calls are right; this run counts the steps.
  const whole = await run(2 ** 31, 1, 'at once');
  found.steps = whole.steps;
  for (const code of Object.keys(whole.codes)) {
    if (code !== 'right') found.problems.push(`without a loss: ${code}`);
  }
  for (const [way, [times, how]] of WAYS.entries()) {
    for (let from = way % stride; from < whole.steps; from += stride) {
      show?.(`connection lost at step ${from} of ${whole.steps}, ${times} in a row`);
      await run(from, times, how).catch((cause) => {
        found.problems.push(`step ${from}, ${times} in a row: ${cause.message}`);
      });
      const often = times === 1 ? 'once' : times === 1000 ? 'for good' : `${times} in a row`;
      const name = how === 'deleted' ? 'the store deleted' : often;
      found.ways[name] = (found.ways[name] ?? 0) + 1;
    }
  }
}
