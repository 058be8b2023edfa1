// Measures the cost of slicing, and the effect of a hidden page on a load: pairs of times, taken in turns.

import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ENGINES } from '../../lib/engines/index.mjs';
import { ratio } from './figures.mjs';
import { covered, withPlainBrowser } from './plain-browser.mjs';

/** Measures the time with slices over the time without, of the same rows. */
export async function timeSlicing(browser, { shortRows, rounds }, show) {
  const pairs = [];
  for (let round = 0; round <= rounds; round++) {
    show(`time with slices and without, round ${round} of ${rounds}`);
    await browser.visit('alive');
    const time = (sliceMs) => browser.call('time', { rows: shortRows, sliceMs });
    // The second has a warmer page.
    const first = round % 2 === 0 ? 8 : 1e9;
    const times = [await time(first), await time(first === 8 ? 1e9 : 8)];
    if (round > 0) pairs.push(first === 8 ? times : times.reverse());
  }
  await browser.visit('alive');
  const sourceMs = await browser.call('timeSource', shortRows);
  return { rows: shortRows, sourceMs, slicedOverUnsliced: ratio(pairs) };
}

/** The time a page must be hidden or shown before its timers and frames show it. */
const LOOK_MS = 2000;

/** Measures the time in a visible page over the time in a hidden one, which is the speed of the hidden one. */
export async function timeHidden(browser, { shortRows, rounds }, show) {
  const profileDir = await mkdtemp(join(dirname(browser.profileDir), 'plain-'));
  try {
    const engine = ENGINES[browser.engine];
    return await withPlainBrowser({ profileDir, engine }, async (page) => {
      await page.goto(browser.page.url());
      await page.waitForFunction(() => globalThis.alive !== undefined);
      const call = (name, ...args) =>
        page.evaluate(([name, args]) => globalThis.alive[name](...args), [name, args]);
      const visible = await call('visibility', LOOK_MS);
      const hidden = await covered(page, () => call('visibility', LOOK_MS));
      if (hidden.state !== 'hidden' || hidden.frames > 0 || visible.state !== 'visible') {
        throw new Error(`not hidden: ${JSON.stringify({ visible, hidden })}`);
      }
      const load = { rows: shortRows };
      const pairs = [];
      const sliced = [];
      for (let round = 0; round <= rounds; round++) {
        show(`visible and hidden, round ${round} of ${rounds}`);
        const visibleMs = await call('time', load);
        const [hiddenMs, unslicedMs] = await covered(page, async () => [
          await call('time', load),
          await call('time', { ...load, sliceMs: 1e9 }),
        ]);
        if (round === 0) continue;
        pairs.push([visibleMs, hiddenMs]);
        sliced.push([hiddenMs, unslicedMs]);
      }
      return {
        rows: shortRows,
        lookMs: LOOK_MS,
        visible,
        hidden,
        hiddenSpeed: ratio(pairs),
        slicedOverUnsliced: ratio(sliced),
      };
    });
  } finally {
    await rm(profileDir, { recursive: true, force: true, maxRetries: 5 });
  }
}
