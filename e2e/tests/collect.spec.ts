/** Collection on real IndexedDB, with Web Locks between real tabs. */
import { expect, type Page, test } from './fixtures.js';
import { openStore, stateOf, visit } from './store-page.js';

/** A busy machine must not fail a test. */
const SLOWLY = { timeout: 30_000 };

/** Sums the bytes of all segments of a store, wherever they are stored. */
function storedBytes(page: Page): Promise<number> {
  return page.evaluate(async () => (await window.db.health.stats()).storedBytes);
}

test('heavy rewriting takes at most twice the room of the live rows', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'rewritten');
  const most = await page.evaluate(async () => {
    let most = 0;
    for (let round = 0; round < 10; round++) {
      await window.db.putMany(window.rows(20_000, round));
      for (let at = 0; at < 50; at++) await window.db.put(`single/${at}`, round);
      // It looks once a second, and waits until the browser is idle.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const { storedBytes, liveBytes } = await window.db.health.stats();
      most = Math.max(most, (storedBytes - (1 << 20)) / liveBytes);
    }
    return most;
  });
  await expect
    .poll(
      () =>
        page.evaluate(async () => {
          const { storedBytes, liveBytes } = await window.db.health.stats();
          return storedBytes <= 2 * liveBytes + (1 << 20);
        }),
      SLOWLY,
    )
    .toBe(true);
  console.log(`at most ${most.toFixed(2)} x live, besides 1 MiB, a second after each rewriting`);
  // The store opens without them.
  const state = await stateOf(page);
  const result = await page.evaluate(() => window.db.health.compact());
  expect(result.bytesAfter).toBeLessThanOrEqual(result.bytesBefore);
  expect(await page.evaluate(() => window.countRecords('rewritten', 'segments'))).toBeLessThan(15);
  const after = await visit(await persistentPage.relaunch());
  await openStore(after, 'rewritten');
  expect(await stateOf(after)).toEqual(state);
});

test('a tab that scans misses no row while another rewrites and collects', {
  tag: '@core',
}, async ({ persistentPage }) => {
  const collector = await visit(persistentPage.page);
  await openStore(collector, 'pinned');
  await collector.evaluate(() => window.db.putMany(window.rows(30_000)));
  const reader = await visit(await persistentPage.newPage());
  await reader.evaluate(async () => {
    window.db = await window.hedgerow.open('pinned', { advanced: { cacheBytes: 0 } });
  });
  const first = await reader.evaluate(async () => {
    const scan = window.db.scan()[Symbol.asyncIterator]();
    Object.assign(window, { scan });
    return (await scan.next()).value[1].round;
  });
  let two = 0;
  for (let round = 1; round < 4; round++) {
    await collector.evaluate((round) => window.db.putMany(window.rows(30_000, round)), round);
    const { bytesAfter } = await collector.evaluate(() => window.db.health.compact());
    // The commit of the scan and the newest one stay; those between go, by this collection or by an earlier one.
    if (round === 1) two = bytesAfter;
    expect(bytesAfter).toBeLessThan(1.25 * two);
  }
  const seen = await reader.evaluate(async () => {
    const { scan } = window as unknown as { scan: AsyncIterator<[string, { round: number }]> };
    const rounds = new Set<number>();
    let rows = 1;
    for (let next = await scan.next(); next.done !== true; next = await scan.next()) {
      rounds.add(next.value[1].round);
      rows++;
    }
    return { rows, rounds: [...rounds] };
  });
  expect(seen).toEqual({ rows: 30_000, rounds: [first] });
  // The other tab may ask for a collection, too, which then takes what it has released.
  const before = await storedBytes(collector);
  const asked = await reader.evaluate(() => window.db.health.compact());
  expect(asked.bytesBefore).toBe(before);
  const { liveBytes } = await collector.evaluate(() => window.db.health.stats());
  expect(await storedBytes(collector)).toBeLessThan(1.07 * liveBytes);
  expect(await stateOf(reader)).toEqual(await stateOf(collector));
});

test('when the collecting tab is closed, another one collects', async ({ persistentPage }) => {
  const second = await visit(persistentPage.page);
  const first = await visit(await persistentPage.newPage());
  await openStore(first, 'handed-on');
  await first.evaluate(() => window.db.putMany(window.rows(20_000)));
  await openStore(second, 'handed-on');
  await first.evaluate(() => window.db.putMany(window.rows(20_000, 1)));
  const state = await stateOf(first);
  await first.close();
  const who = () => second.evaluate(async () => (await window.db.health.stats()).compactor);
  await expect.poll(who, SLOWLY).toBe('this');
  expect(await stateOf(second)).toEqual(state);
  await second.evaluate(() => window.db.putMany(window.rows(20_000, 2)));
  await second.evaluate(() => window.db.health.compact());
  const { liveBytes } = await second.evaluate(() => window.db.health.stats());
  expect(await storedBytes(second)).toBeLessThan(1.07 * liveBytes);
});

test('leftovers of a page that was closed in mid-load are collected', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'debris');
  await page.evaluate(() => window.db.putMany(window.rows(1000)));
  const [state, stored] = [await stateOf(page), await storedBytes(page)];
  const loading = await visit(await persistentPage.newPage());
  await openStore(loading, 'debris');
  const count = () => page.evaluate(() => window.countRecords('debris', 'segments'));
  const before = await count();
  await loading.evaluate(() => {
    const source = async function* () {
      yield* window.manyBytes(600);
      await new Promise(() => {});
    };
    void window.db.putMany(source());
  });
  await expect.poll(count, SLOWLY).toBeGreaterThan(before + 4);
  // While it lives its segments are its own.
  await page.evaluate(() => window.db.health.compact());
  expect(await count()).toBeGreaterThan(before);
  await loading.close();
  await expect
    .poll(async () => {
      await page.evaluate(() => window.db.health.compact());
      return storedBytes(page);
    }, SLOWLY)
    .toBeLessThanOrEqual(stored);
  expect(await stateOf(page)).toEqual(state);
});
