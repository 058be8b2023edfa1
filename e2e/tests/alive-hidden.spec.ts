/** A load goes on in a hidden page, where timers come once in a second and frames never. */
import { expect } from '@playwright/test';
import { covered } from '../alive/lib/plain-browser.mjs';
import type { Load } from '../alive/page/loads.js';
import { test } from './plain-tabs.js';

const ROUNDS = 3;
const ROWS = 50_000;

/** Works the CPU alone: measures a hidden page's share of the machine. */
function computeFor(): number {
  const startMs = performance.now();
  let x = 1;
  for (let at = 0; at < 40_000_000; at++) x = (x * 1_103_515_245 + 12_345) | 0;
  // Used, so that no compiler leaves the loop out.
  return performance.now() - startMs + (x === 0.5 ? 1 : 0);
}

test('a load goes on in a hidden page', { tag: ['@chromium', '@timed'] }, async ({ tab }) => {
  const page = await tab('alive', 'alive');
  const look = () => page.evaluate(() => globalThis.alive.visibility(1000));
  const load = (load: Load) => page.evaluate((load) => globalThis.alive.time(load), load);
  const none = (): number[] => [];
  const front = { loadMs: none(), computeMs: none() };
  const hidden = { loadMs: none(), computeMs: none(), unslicedMs: none() };
  await load({ rows: ROWS });
  // In turns, and the best of a few: the machine's other work comes and goes.
  for (let round = 0; round < ROUNDS; round++) {
    front.computeMs.push(await page.evaluate(computeFor));
    front.loadMs.push(await load({ rows: ROWS }));
    await covered(page, async () => {
      const seen = await look();
      // Really hidden: about 100 timers and 60 frames would be due in this time.
      expect(seen).toMatchObject({ state: 'hidden', frames: 0 });
      expect(seen.timers).toBeLessThan(10);
      hidden.computeMs.push(await page.evaluate(computeFor));
      hidden.loadMs.push(await load({ rows: ROWS }));
      hidden.unslicedMs.push(await load({ rows: ROWS, sliceMs: 1e9 }));
    });
  }
  console.log(`  ${JSON.stringify({ front, hidden }, (_, ms) => ms.toFixed?.() ?? ms)}`);
  const best = (all: readonly number[]) => Math.min(...all);
  // Chromium runs hidden pages at a lower priority: on a busy machine they get the CPU time that others leave.
  const share = Math.max(1, best(hidden.computeMs) / best(front.computeMs));
  console.log(`  load ${best(hidden.loadMs) / best(front.loadMs)} x, CPU alone ${share} x`);
  // With timers between slices this would not end in time.
  expect(best(hidden.loadMs)).toBeLessThan(2 * best(hidden.unslicedMs));
  expect(best(hidden.loadMs)).toBeLessThan(3 * share * best(front.loadMs));
});
