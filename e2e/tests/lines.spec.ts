/** Snapshots, branches, merges and undo, over two tabs and real IndexedDB. */
import type { Snapshot, Store } from 'hedgerow';
import { type Context, expect, type Page, test } from './fixtures.js';

declare global {
  interface Window {
    draft: Store;
    snap: Snapshot;
  }
}

async function openTab(context: Context, name: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto('/tabs.html');
  await page.waitForFunction(() => window.tab !== undefined);
  await page.evaluate((name) => window.tab.open(name), name);
  return page;
}

/** Rewrites all rows, so that collection has something to take. */
async function rewrite(page: Page, round: string, count = 2000): Promise<void> {
  await page.evaluate(([round, count]) => window.tab.rewrite(count, round), [
    round,
    count,
  ] as const);
}

/** Returns the rounds of the rows that a handle sees. */
function rounds(page: Page, what: 'draft' | 'snap' | 'tab'): Promise<string[]> {
  return page.evaluate(async (what) => {
    const from = what === 'tab' ? window.tab.store : window[what];
    const values = await from.scan<{ round: string }>({ prefix: 'row/' }).values().toArray();
    return [...new Set(values.map(({ round }) => round)), `${values.length}`];
  }, what);
}

test('a branch made in one tab is seen, written and missed by another', async ({
  persistentPage,
}) => {
  const { context } = persistentPage;
  const [one, two] = [await openTab(context, 'branch'), await openTab(context, 'branch')];
  await rewrite(one, 'main', 500);
  await one.evaluate(async () => {
    window.draft = await window.tab.store.branches.open('draft');
    for (let at = 0; at < 40; at++) await window.draft.put(`one/${at}`, at);
  });
  await two.evaluate(async () => {
    window.draft = await window.tab.store.branches.open('draft');
    await window.draft.put('two', 2);
  });
  expect(await two.evaluate(() => window.draft.count({ prefix: 'one/' }))).toBe(40);
  await one.waitForFunction(async () => (await window.draft.get('two')) === 2);
  expect(await one.evaluate(() => window.tab.store.has('two'))).toBe(false);

  // The tab that did not make the branch merges both sides' writes into main.
  await one.evaluate(() => window.tab.store.put('main', 1));
  const merged = await two.evaluate(async () => {
    const { rows, conflicts } = await window.tab.store.branches.merge('draft');
    return [rows, conflicts, await window.tab.store.count()];
  });
  expect(merged).toEqual([41, 0, 542]);
  await one.waitForFunction(async () => (await window.tab.store.count()) === 542);

  // Main needs segments that came with moves of the branch, and they outlive it.
  await one.evaluate(() => window.tab.store.branches.delete('draft'));
  await two.waitForFunction(() =>
    window.draft.get('two').then(
      () => false,
      (cause: { code: string; detail?: string }) => cause.detail === 'branch',
    ),
  );
  for (const page of [one, two, await openTab(context, 'branch')]) {
    const seen = await page.evaluate(async () => {
      const db = window.tab.store;
      const names = (await db.branches.list()).map(({ name }) => name);
      return [names, await db.count({ prefix: 'one/' }), await db.get('two'), await db.get('main')];
    });
    expect(seen).toEqual([['main'], 40, 2, 1]);
    const { faults } = await page.evaluate(() => window.tab.store.health.verify());
    expect(faults).toEqual([]);
  }
});

test('the rows of a snapshot and a branch survive collections of another tab', async ({
  persistentPage,
}) => {
  const { context } = persistentPage;
  // The first one is the collector.
  const [collector, other] = [await openTab(context, 'held'), await openTab(context, 'held')];
  await rewrite(collector, 'first');
  await other.waitForFunction(async () => (await window.tab.store.count()) === 2000);
  const root = await other.evaluate(async () => {
    await window.tab.store.branches.open('draft');
    return window.tab.store.root;
  });
  await rewrite(collector, 'second');
  await other.waitForFunction((root) => window.tab.store.root !== root, root);
  await other.evaluate(() => {
    window.snap = window.tab.store.snapshot();
  });
  for (const round of ['third', 'fourth']) await rewrite(collector, round);
  expect(await rounds(other, 'snap')).toEqual(['second', '2000']);
  await collector.evaluate(async () => {
    window.draft = await window.tab.store.branches.open('draft');
  });
  expect(await rounds(collector, 'draft')).toEqual(['first', '2000']);

  // Undo, which the other tab sees.
  await other.evaluate(() => window.tab.store.branches.reset(window.snap));
  const undone = await other.evaluate(() => [window.tab.store.root, window.snap.root]);
  expect(undone[0]).toBe(undone[1]);
  await collector.waitForFunction((root) => window.tab.store.root === root, undone[0]);
  await other.evaluate(() => window.snap.close());
  await collector.evaluate(() => window.tab.store.health.compact());
  expect(await rounds(collector, 'tab')).toEqual(['second', '2000']);
  await collector.evaluate(() => window.tab.store.branches.reset('draft'));
  await other.waitForFunction((root) => window.tab.store.root === root, root);
  expect(await rounds(other, 'tab')).toEqual(['first', '2000']);
  expect((await collector.evaluate(() => window.tab.store.health.verify())).faults).toEqual([]);
});

test('a snapshot and a branch cost no bytes, and less than a transaction or about one', {
  tag: ['@chromium', '@timed'],
}, async ({ persistentPage }) => {
  const page = await openTab(persistentPage.context, 'costs');
  await rewrite(page, 'rows', 5000);
  const took = await page.evaluate(async () => {
    const db = window.tab.store;
    const raw = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open('raw', 1);
      request.onupgradeneeded = () => request.result.createObjectStore('rows');
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    const put = (key: number) =>
      new Promise<void>((resolve, reject) => {
        const tx = raw.transaction('rows', 'readwrite', { durability: 'relaxed' });
        tx.oncomplete = () => resolve();
        tx.onabort = () => reject(tx.error);
        tx.objectStore('rows').put(new Uint8Array(36), key);
        tx.commit();
      });
    const times = { raw: [] as number[], snapshot: [] as number[], branch: [] as number[] };
    const timed = async (what: keyof typeof times, run: () => unknown) => {
      const startMs = performance.now();
      await run();
      times[what].push(performance.now() - startMs);
    };
    const before = await db.health.stats();
    for (let at = 0; at < 60; at++) {
      await timed('raw', () => put(at));
      const startMs = performance.now();
      const snap = db.snapshot();
      times.snapshot.push(performance.now() - startMs);
      snap.close();
      let branch: Store | undefined;
      await timed('branch', async () => {
        branch = await db.branches.open(`b${at}`);
      });
      await branch?.close();
    }
    const after = await db.health.stats();
    const median = (of: number[]) => of.sort((a, b) => a - b)[30] ?? 0;
    return {
      bytes: after.storedBytes - before.storedBytes,
      segments: after.segments - before.segments,
      raw: median(times.raw),
      snapshot: median(times.snapshot),
      branch: median(times.branch),
    };
  });
  const ms = (value: number) => `${value.toFixed(3)} ms`;
  console.log(
    `snapshot ${ms(took.snapshot)}, branch ${ms(took.branch)}, a raw transaction ${ms(took.raw)}`,
  );
  expect([took.bytes, took.segments]).toEqual([0, 0]);
  expect(took.snapshot).toBeLessThan(0.5);
  expect(took.branch).toBeLessThan(5 * took.raw);
});
