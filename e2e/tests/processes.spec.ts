/**
 * Acts on the processes of a browser like an operating system, in Firefox and WebKitGTK: stops the process of a page,
 * as a phone does with a hidden tab, and ends it; and ends the process in which WebKit keeps IndexedDB.
 * `frozen.spec.ts` does the first in Chromium, `torture.spec.ts` the second.
 */
import { processesBelow, stopProcessOf } from '../lib/engines/processes.mjs';
import type { Tab } from '../lib/engines/tab.mjs';
import { expect, type Page, test } from './fixtures.js';

const LIMIT_MS = 12_000;
/** The limit of a collection: another tab must take the role from the stopped one. */
const COLLECT_LIMIT_MS = 25_000;

async function suspendedPage(page: Page): Promise<Tab> {
  await page.goto('/suspended.html');
  await page.waitForFunction(() => window.suspended !== undefined);
  return page as Tab;
}

async function tabsPage(page: Page, name: string): Promise<Tab> {
  await page.goto('/tabs.html');
  await page.waitForFunction(() => window.tab !== undefined);
  await page.evaluate((name) => window.tab.open(name), name);
  return page as Tab;
}

test('a tab whose process is stopped holds up no other, and is right when it goes on', async ({
  persistentPage,
  engine,
}) => {
  test.setTimeout(240_000);
  const name = 'stopped';
  const a = await suspendedPage(persistentPage.page);
  const b = await suspendedPage(await persistentPage.context.newPage());
  await a.evaluate((name) => window.suspended.make(name), name);
  await a.evaluate((name) => window.suspended.begin(name, 'collector', false, false), name);
  await a.evaluate(() => window.suspended.rests());
  const stopped = await stopProcessOf(a, b);
  try {
    const startMs = performance.now();
    await b.evaluate((name) => window.suspended.open(name, 'collector'), name);
    expect(performance.now() - startMs, 'opening').toBeLessThan(LIMIT_MS);
    expect(await b.evaluate(() => window.suspended.meet(20))).toBeLessThan(LIMIT_MS);
    const took = await b.evaluate((name) => window.suspended.goOn(name, 10), name);
    console.log(`  stopped process, ${engine}: ${JSON.stringify(took)}`);
    for (const [what, ms] of Object.entries(took)) {
      expect(ms, what).toBeLessThan(what === 'collect' ? COLLECT_LIMIT_MS : LIMIT_MS);
    }
  } finally {
    process.kill(stopped, 'SIGCONT');
  }
  expect(await a.evaluate(() => window.suspended.ends(10))).toEqual([]);
});

test('a tab whose process is killed in mid-commit has lost no acknowledged commit', async ({
  persistentPage,
}) => {
  test.setTimeout(240_000);
  const name = 'killed';
  const b = await tabsPage(persistentPage.page, name);
  let told = 0;
  for (let round = 0; round < 5; round++) {
    const a = (await persistentPage.context.newPage()) as Tab;
    await a.exposeFunction('acknowledge', () => {
      told += 1;
    });
    await tabsPage(a, name);
    const stopped = await stopProcessOf(a, b);
    process.kill(stopped, 'SIGCONT');
    const before = told;
    a.evaluate(() => window.tab.incrementUntilStopped()).catch(() => {});
    await expect.poll(() => told).toBeGreaterThan(before + 3);
    process.kill(stopped, 'SIGKILL');
    // The tab stays, without its page.
    await a.close().catch(() => {});
    await b.evaluate(() => window.tab.increment(1));
    const count = Number(await b.evaluate(() => window.tab.store.get<number>('count')));
    // The last one may have been committed before its acknowledgement.
    expect(count - round - 1).toBeGreaterThanOrEqual(told);
    expect(count - round - 1).toBeLessThanOrEqual(told + round + 1);
    expect((await b.evaluate(() => window.tab.store.health.verify())).ok).toBe(true);
  }
});

/** Ends the process in which WebKit keeps IndexedDB. */
function endNetwork(page: Tab): void {
  const all = processesBelow(page.context().pid);
  const network = all.filter(({ command }) => command.includes('WebKitNetworkProcess'));
  expect(network).toHaveLength(1);
  process.kill((network[0] as { id: number }).id, 'SIGKILL');
}

test('when WebKit’s network process ends, all stores of a page go on @webkit', async ({
  persistentPage,
}) => {
  test.setTimeout(240_000);
  const page = persistentPage.page as Tab;
  await page.evaluate(async () => {
    const names = Array.from({ length: 8 }, (_, at) => `store ${at}`);
    const stores = await Promise.all(names.map((name) => window.hedgerow.open(name)));
    // Code comes from the network, too, whose process ends.
    await window.hedgerow.preload();
    Object.assign(window, { stores });
  });
  for (let round = 0; round < 5; round++) {
    // One of them works in slices then.
    await page.evaluate((round) => {
      const { stores } = window as unknown as { stores: (typeof window.db)[] };
      const rows = Array.from({ length: 100_000 }, (_, at) => [`load/${round}/${at}`, { at }]);
      const load = stores[0]?.putMany(rows as [string, unknown][]);
      load?.catch(() => {});
      Object.assign(window, { load });
    }, round);
    endNetwork(page);
    const longest = await page.evaluate(async (round) => {
      const { stores, load } = window as unknown as {
        stores: (typeof window.db)[];
        load: Promise<unknown>;
      };
      const startMs = performance.now();
      await load;
      await Promise.all(stores.map((db, at) => db.put(`${round}`, at)));
      const found = await Promise.all(stores.map((db) => db.count()));
      const loaded = 100_000 * (round + 1);
      if (found.some((count, at) => count !== round + 1 + (at === 0 ? loaded : 0))) {
        throw new Error(found.join());
      }
      // Calls in a frame that an app removes go on.
      const puts = stores.map((db, at) => db.put(`${round}`, -at));
      for (const frame of document.querySelectorAll('iframe')) frame.remove();
      await Promise.all(puts);
      return performance.now() - startMs;
    }, round);
    expect(longest).toBeLessThan(LIMIT_MS);
    // The dead ones have gone.
    expect(await page.evaluate(() => document.querySelectorAll('iframe').length)).toBe(1);
  }
});

test('when WebKit’s network process ends, calls end typed, and the store goes on @webkit', async ({
  persistentPage,
}) => {
  test.setTimeout(240_000);
  const name = 'network';
  const a = await tabsPage(persistentPage.page, name);
  const b = await tabsPage(await persistentPage.context.newPage(), name);
  let least = 0;
  for (let round = 0; round < 5; round++) {
    const writing = a.evaluate(() => window.tab.incrementFor(1500));
    await new Promise((resolve) => setTimeout(resolve, 300 + 100 * round));
    endNetwork(a);
    const { acknowledged, codes } = await writing;
    console.log(
      `  round ${round}: ${acknowledged} acknowledged, refused: ${codes.join() || 'none'}`,
    );
    expect(codes.filter((code) => code !== 'disconnected')).toEqual([]);
    least += acknowledged;
    // Both go on, without being opened again.
    for (const tab of [a, b]) {
      await tab.evaluate(() => window.tab.increment(1));
      least += 1;
      const count = Number(await tab.evaluate(() => window.tab.store.get<number>('count')));
      expect(count).toBeGreaterThanOrEqual(least);
      least = count;
    }
    // An app may remove frames that it has not made.
    if (round === 2) {
      await a.evaluate(() => document.querySelector('iframe')?.remove());
      await a.evaluate(() => window.tab.increment(1));
      least += 1;
    }
  }
  // One of them collects again.
  await expect
    .poll(() => b.evaluate(async () => (await window.tab.store.health.stats()).compactor))
    .not.toBe('none');
  await a.evaluate(() => window.tab.store.health.compact());
  // Each hears of the other's writes.
  for (const [writer, reader] of [
    [a, b],
    [b, a],
  ] as const) {
    await writer.evaluate(() => window.tab.increment(1));
    const root = await writer.evaluate(() => window.tab.store.root);
    await expect.poll(() => reader.evaluate(() => window.tab.store.root)).toBe(root);
  }
  expect((await b.evaluate(() => window.tab.store.health.verify())).ok).toBe(true);
});
