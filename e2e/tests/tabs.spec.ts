/** Four tabs that write one store at the same time, of which some are killed. */
import type { BrowserContext, Page } from '@playwright/test';
import { expect, test } from './fixtures.js';

/** Increments of each tab; `HEDGEROW_INCREMENTS` for another number. */
const INCREMENTS = Number(process.env.HEDGEROW_INCREMENTS ?? 1000);
const TABS = 4;

async function openTab(page: Page, name: string): Promise<Page> {
  await page.goto('/tabs.html');
  await page.waitForFunction(() => window.tab !== undefined);
  await page.evaluate((name) => window.tab.open(name), name);
  return page;
}

/** Opens the store `name` in `TABS` tabs. */
async function openTabs(context: BrowserContext, name: string): Promise<Page[]> {
  const tabs: Page[] = [];
  for (let at = 0; at < TABS; at++) tabs.push(await openTab(await context.newPage(), name));
  return tabs;
}

test(`${TABS} tabs increment one counter, and none is lost`, async ({ persistentPage }) => {
  test.setTimeout(60_000 + 100 * TABS * INCREMENTS);
  const tabs = await openTabs(persistentPage.context, 'counted');
  const startMs = performance.now();
  const counts = await Promise.all(
    tabs.map((page) => page.evaluate((times) => window.tab.increment(times), INCREMENTS)),
  );
  const seconds = (performance.now() - startMs) / 1000;
  const runs = counts.reduce((sum, { runs }) => sum + runs, 0);
  console.log(
    `${TABS} x ${INCREMENTS} increments: ${seconds.toFixed(1)} s, ${runs} runs of the function, ` +
      `median ${counts.map(({ medianMs }) => medianMs.toFixed(1)).join(', ')} ms, ` +
      `longest ${counts.map(({ longestMs }) => longestMs.toFixed(0)).join(', ')} ms`,
  );
  const third = await openTab(await persistentPage.context.newPage(), 'counted');
  const sums = await third.evaluate(() => window.tab.store.getMany(['count', 'twin']));
  expect(sums).toEqual([TABS * INCREMENTS, TABS * INCREMENTS]);
});

test('puts', async ({ persistentPage }) => {
  test.setTimeout(60_000 + 100 * TABS * INCREMENTS);
  const tabs = await openTabs(persistentPage.context, 'puts');
  const startMs = performance.now();
  const counts = await Promise.all(
    tabs.map((page, at) => page.evaluate(([times, at]) => window.tab.put(times!, at!), [INCREMENTS, at])),
  );
  const seconds = (performance.now() - startMs) / 1000;
  console.log(
    `${TABS} x ${INCREMENTS} puts: ${seconds.toFixed(1)} s` +
      `median ${counts.map(({ medianMs }) => medianMs.toFixed(1)).join(', ')} ms, ` +
      `longest ${counts.map(({ longestMs }) => longestMs.toFixed(0)).join(', ')} ms`,
  );
});
