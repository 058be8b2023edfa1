/** Watching in tabs of one browser: each hears of the others' writes, and stays alive. */
import type { Change } from 'hedgerow';
import { expect, type Page, test } from './fixtures.js';
import { openStore, visit } from './store-page.js';

declare global {
  interface Window {
    /** The events of the page's watch, applied to a copy of the rows. */
    copy: { rows: Map<string, unknown>; calls: number; faults: string[]; root: string };
  }
}

/** Watches all rows from the first on. */
function watch(page: Page): Promise<void> {
  return page.evaluate(() => {
    const copy = { rows: new Map<string, unknown>(), calls: 0, faults: [] as string[], root: '' };
    window.copy = copy;
    const take = (changes: readonly Change[], { root }: { readonly root: string }) => {
      copy.calls += 1;
      copy.root = root;
      if (copy.calls > 1 && changes.length === 0) copy.faults.push('an empty call');
      for (const change of changes) {
        const had = copy.rows.has(change.key);
        if (had !== (change.op !== 'insert')) copy.faults.push(`${change.op} ${change.key}`);
        if (change.op === 'delete') copy.rows.delete(change.key);
        else copy.rows.set(change.key, change.newValue);
      }
    };
    window.db.watch({}, take, { initial: true });
  });
}

/** Waits until the copy of a page equals its store, and returns the number of calls. */
async function agrees(page: Page, count: number): Promise<number> {
  await expect
    .poll(() => page.evaluate(() => [window.copy.rows.size, window.copy.root === window.db.root]))
    .toEqual([count, true]);
  const seen = await page.evaluate(async () => {
    const entries = await window.db.scan().toArray();
    // Both in the order of the scan.
    const own = entries.map(([key]) => [key, window.copy.rows.get(key)] as const);
    const isSame = (await window.digest(own)) === (await window.digest(entries));
    return { isSame, faults: window.copy.faults, calls: window.copy.calls };
  });
  expect(seen.faults).toEqual([]);
  expect(seen.isSame).toBe(true);
  return seen.calls;
}

test("callbacks in each tab hear of every tab's writes", { tag: '@core' }, async ({
  persistentPage,
}) => {
  const tabs = [await visit(persistentPage.page)];
  for (let count = 1; count < 3; count++)
    tabs.push(await visit(await persistentPage.context.newPage()));
  for (const tab of tabs) {
    await openStore(tab, 'watched');
    await watch(tab);
  }
  const [first, second, third] = tabs as [Page, Page, Page];
  await first.evaluate(() => window.db.put('a', 1));
  for (const tab of tabs) await agrees(tab, 1);
  await second.evaluate(() => window.db.putMany(window.rows(5000)));
  for (const tab of tabs) await agrees(tab, 5001);
  // All at once, of the same rows and of others.
  await Promise.all(
    tabs.map((tab, at) =>
      tab.evaluate(async (at) => {
        for (let count = 0; count < 50; count++) {
          await window.db.put(`tab ${at}`, count);
          await window.db.put(`both ${count % 7}`, { at, count });
          if (count % 10 === 9) await window.db.delete(`both ${count % 3}`);
        }
      }, at),
    ),
  );
  // The tab that has written last may still be behind the writes of others just before.
  const roots = () => Promise.all(tabs.map((tab) => tab.evaluate(() => window.db.root)));
  await expect.poll(async () => new Set(await roots()).size).toBe(1);
  const rows = await third.evaluate(async () => (await window.db.scan().keys().toArray()).length);
  const calls: number[] = [];
  for (const tab of tabs) calls.push(await agrees(tab, rows));
  console.log(`  calls in each of three tabs for 300 writes and more: ${calls.join(', ')}`);
  // The events for a page that was closed in the meantime.
  const since = await first.evaluate(async () => {
    // Otherwise a collection may delete the chunks of this root alone.
    await (await window.db.branches.open('seen')).close();
    return window.db.root;
  });
  await first.close();
  await second.evaluate(async () => {
    await window.db.delete('a');
    await window.db.put('b', 1);
  });
  const again = await visit(await persistentPage.context.newPage());
  await openStore(again, 'watched');
  const changes = await again.evaluate(async (since): Promise<Change[]> => {
    return window.db.history.since(since).toArray();
  }, since);
  expect(changes).toEqual([
    { op: 'delete', key: 'a', oldValue: 1 },
    { op: 'insert', key: 'b', newValue: 1 },
  ]);
});

test('frames go on while watchers hear of a load of 100,000 rows', {
  tag: ['@chromium', '@timed'],
}, async ({ chromiumPage }) => {
  const page = await visit(chromiumPage.page);
  const other = await visit(await chromiumPage.context.newPage());
  for (const tab of [page, other]) {
    await openStore(tab, 'frames of watchers');
    await watch(tab);
  }
  await page.bringToFront();
  const seen = await page.evaluate(async () => {
    // A watcher for each thousand rows, and some of all of them.
    const told = new Array<number>(110).fill(0);
    for (const at of told.keys()) {
      // Keys have six digits; three of them stand for a thousand rows.
      const range = { prefix: at < 100 ? `issue/${String(at).padStart(3, '0')}` : 'issue/' };
      window.db.watch(range, (changes) => {
        told[at] = (told[at] ?? 0) + changes.length;
      });
    }
    const gaps: number[] = [];
    let last = 0;
    let isGoing = true;
    const frame = (now: number) => {
      if (last > 0) gaps.push(now - last);
      last = now;
      if (isGoing) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    const { ms } = (await window.db.putMany(window.rows(100_000))).stats;
    const startMs = performance.now();
    const isTold = () => window.copy.rows.size === 100_000 && told.every((count) => count > 0);
    while (!isTold()) await new Promise((resolve) => setTimeout(resolve, 5));
    const toldMs = performance.now() - startMs;
    await new Promise(requestAnimationFrame);
    isGoing = false;
    return { ms, toldMs, frames: gaps.length, longestGap: Math.max(...gaps), told };
  });
  console.log(
    `  load ${seen.ms.toFixed(0)} ms, told ${seen.toldMs.toFixed(0)} ms later; ` +
      `${seen.frames} frames, longest gap ${seen.longestGap.toFixed(0)} ms`,
  );
  expect(seen.told).toEqual([...new Array(100).fill(1000), ...new Array(10).fill(100_000)]);
  // Bounds that even a busy machine keeps.
  expect(seen.longestGap).toBeLessThan(500);
  expect(seen.frames).toBeGreaterThan(10);
  await agrees(page, 100_000);
  await agrees(other, 100_000);
});
