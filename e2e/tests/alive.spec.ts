/**
 * A load leaves the page alive. `npm run alive` measures how much; the limits here hold on a busy machine: for medians,
 * relative to the same load without slices, and for twenty loads at once, relative to twenty slices.
 */

import type { Page } from '@playwright/test';
import type { Load } from '../alive/page/loads.js';
import { percentile } from '../bench/page/measure.js';
import { expect, test } from './fixtures.js';

const SLICE_MS = 8;

async function visit(page: Page): Promise<Page> {
  await page.goto('/alive.html');
  await page.waitForFunction(() => globalThis.alive !== undefined);
  return page;
}

/** Loads rows while a user clicks into the page. */
async function load(page: Page, what: Load) {
  let going = true;
  const clicking = async () => {
    while (going) {
      await page.mouse.click(40, 40);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  };
  const clicks = clicking();
  try {
    return await page.evaluate((what) => globalThis.alive.load(what), what);
  } finally {
    going = false;
    await clicks;
  }
}

type Outcome = Awaited<ReturnType<typeof load>>;

function tell(name: string, { ms, loaded, seen }: Outcome): void {
  const delays = (['frame', 'timer', 'message', 'fetch', 'database', 'click'] as const).map(
    (probe) => `${probe} ${[0.5, 0.9, 1].map((p) => percentile(seen[probe], p).toFixed(1))}`,
  );
  console.log(`  ${name}: ${ms.toFixed(0)} ms, ${loaded.slices} slices; ${delays.join('; ')}`);
}

test('a page waits for a load for a few slices at most', {
  tag: ['@chromium', '@timed'],
}, async ({ chromiumPage }) => {
  const page = await visit(chromiumPage.page);
  const sliced = await load(page, { rows: 100_000 });
  tell('sliced', sliced);
  const { seen } = sliced;
  // Half of all delays; on a quiet machine they are a third of this, and all are below.
  for (const probe of ['timer', 'message', 'database', 'click'] as const) {
    expect(seen[probe].length, probe).toBeGreaterThan(3);
    expect(percentile(seen[probe], 0.5), probe).toBeLessThan(4 * SLICE_MS);
  }
  // A frame on time, and one that comes two frames late, where the screen has 60 a second.
  expect(percentile(seen.frame, 0.5), 'frame').toBeLessThan(50);

  const unsliced = await load(page, { rows: 100_000, sliceMs: 1e9 });
  tell('unsliced', unsliced);
  for (const probe of ['message', 'click'] as const) {
    const [with_, without] = [seen, unsliced.seen].map((all) => percentile(all[probe], 0.9));
    expect(without, probe).toBeGreaterThan(4 * (with_ ?? Number.NaN));
  }
  expect(percentile(unsliced.seen.frame, 1)).toBeGreaterThan(4 * percentile(seen.frame, 0.9));
});

test('a page with twenty loads at the same time never waits for twenty slices', {
  tag: ['@chromium', '@timed'],
}, async ({ chromiumPage }) => {
  const page = await visit(chromiumPage.page);
  const outcome = await load(page, { rows: 8000, stores: 20 });
  tell('twenty', outcome);
  const { seen, ms, loaded } = outcome;
  // A slice with its surroundings, on this machine at this time.
  const turnMs = ms / loaded.slices;
  for (const probe of ['timer', 'message', 'click'] as const) {
    expect(seen[probe].length, probe).toBeGreaterThan(3);
    expect(percentile(seen[probe], 0.5), probe).toBeLessThan(6 * turnMs);
    expect(percentile(seen[probe], 0.5), probe).toBeLessThan(4 * SLICE_MS);
    expect(percentile(seen[probe], 0.9), probe).toBeLessThan(10 * SLICE_MS);
  }
});

test('reads see the old rows until a load ends, and then the new ones', {
  tag: '@chromium',
}, async ({ chromiumPage }) => {
  const page = await visit(chromiumPage.page);
  const rows = 50_000;
  const reads = await page.evaluate((rows) => globalThis.alive.readWhileLoading(rows), rows);
  console.log(`  ${JSON.stringify(reads)}`);
  expect(reads.wrong).toEqual([]);
  expect(reads.gets).toBeGreaterThan(5);
  expect(reads.counts).toBeGreaterThan(5);
  expect(reads.scans).toBeGreaterThan(0);
  expect(reads.longScanRows).toBe(rows);
});
